"""`judge train`."""
