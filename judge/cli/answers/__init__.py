"""Commands that list judges' answers: ratings, verdicts, missing ratings, and stories where ratings differ."""
