"""Attacks: additions that try to raise a story's rating, by text around the story or by length."""
