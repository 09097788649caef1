"""Lists the stories on which ratings differ most."""
