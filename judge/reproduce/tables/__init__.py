"""The studies' published tables, one module each kind."""
