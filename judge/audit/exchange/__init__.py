"""Answers and items of an audit in other programs' files."""
