"""Results of an audit: error rates, agreement between annotators, disagreements, and the report."""
