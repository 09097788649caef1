"""Exchange with other programs: ratings and answers from elsewhere, and results for elsewhere."""
