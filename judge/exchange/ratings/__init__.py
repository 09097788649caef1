"""A ratings table out of a file of one's own."""
