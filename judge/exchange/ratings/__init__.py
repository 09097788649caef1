"""Reader of a ratings table from the user's own file."""
