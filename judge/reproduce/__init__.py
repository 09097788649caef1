"""Reproduction of the studies' published tables from their released files.

Every cell stands with what the study printed, what its own recipe gives on the files at hand, and what ours gives.
"""
