"""Several judges combined into one, out of fold."""
