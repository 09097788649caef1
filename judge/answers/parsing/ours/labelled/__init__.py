"""Parses answers on scales of labels (Yes/No, grades, other words) instead of numbers."""
