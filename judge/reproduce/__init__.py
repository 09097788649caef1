"""The studies' published tables, computed from their released files. Never prints a number that was only copied.

Every cell stands with what the study printed, what its own recipe gives on the files at hand, and what ours gives.
"""
