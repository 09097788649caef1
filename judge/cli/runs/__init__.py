"""Commands that make and check runs."""
