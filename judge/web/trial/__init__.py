"""A page on which a judge is tried on stories of one's own."""
