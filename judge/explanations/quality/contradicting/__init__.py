"""Answers whose explanation supports another rating than the stated one: rules, their precision, and the table."""
