"""Import and export: ratings and answers from other programs, results for other programs."""
