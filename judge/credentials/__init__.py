"""Rules for keys: providers' hosts, hosts that the user trusts, and literal keys in a definition."""
