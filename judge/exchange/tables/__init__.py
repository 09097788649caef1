"""Tables of others: who is who in their columns, and what they count."""
