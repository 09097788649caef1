"""Which key goes where: providers' hosts, what the user trusts, and keys that stand in a definition as they are."""
