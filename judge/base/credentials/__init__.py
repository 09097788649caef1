"""API keys: providers' hosts, hosts that the user trusts with keys, and detection of keys written into a run
definition.
"""
