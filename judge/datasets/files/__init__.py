"""Readers of stories from tables of any common form: strict parsing, column maps, the native format."""
