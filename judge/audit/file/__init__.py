"""The audit's SQLite file, and the values that stand in it."""
