"""The stories on which ratings differ most."""
