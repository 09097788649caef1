"""Invariance tests: changes of wording, form and layout that should not move a good judge."""
