"""Layouts of tables that are read as rows of one story, or one rating, each."""
