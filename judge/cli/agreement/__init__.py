"""Commands that set judges beside people."""
