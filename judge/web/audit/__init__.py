"""Pages on which people audit explanations."""
