"""Readers of stories from tables in common formats: strict parsing, column maps, and the program's own format."""
