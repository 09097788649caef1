"""Ratings and preferences as tables and matrices, read from runs and files."""
