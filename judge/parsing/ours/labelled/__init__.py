"""Parsing of labels (Yes/No, grades, other words) in the place of numbers."""
