"""Exports to the formats of other programs, from the same ratings table that every command reads."""
