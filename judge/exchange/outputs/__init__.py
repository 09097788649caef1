"""Exports for other programs, from the same ratings table that every command reads."""
