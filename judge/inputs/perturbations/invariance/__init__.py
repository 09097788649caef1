"""Invariance tests: changes of wording, form and layout that should not change a good judge's rating."""
