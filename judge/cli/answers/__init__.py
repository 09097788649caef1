"""Commands about what was answered: ratings, verdicts, what is missing, and where they differ."""
