"""Commands that exchange ratings and answers with other programs."""
