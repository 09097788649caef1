"""Reader of ratings from a table file of the user."""
