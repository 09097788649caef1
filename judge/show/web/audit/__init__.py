"""Web pages on which people audit judges' explanations."""
