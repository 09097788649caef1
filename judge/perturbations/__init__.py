"""Stories changed on purpose, to see whether a judge notices: what changes there are, and how each is made."""
