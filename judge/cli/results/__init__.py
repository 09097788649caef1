"""Commands that print tables of results."""
