"""API keys: providers' hosts, hosts that the user trusts with keys, and keys written into a run definition."""
