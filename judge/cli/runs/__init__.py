"""Commands that start, continue and check runs."""
