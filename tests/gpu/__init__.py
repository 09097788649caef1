"""What needs a graphics card: `make test-gpu`."""
