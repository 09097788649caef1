"""Readers of the files that `judge import` takes: what each recognises, its options, and what it makes of a file."""
