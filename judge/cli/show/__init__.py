"""Commands that draw results: pages, pictures."""
