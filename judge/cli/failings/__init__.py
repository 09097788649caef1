"""Commands that test judges for known weaknesses."""
