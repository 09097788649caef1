"""Answers whose reason speaks for another rating than the one they state: flags, their precision, the table."""
