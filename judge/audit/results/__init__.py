"""What an audit found: rates, agreement, disagreements, the report."""
