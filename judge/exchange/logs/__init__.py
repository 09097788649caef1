"""Logs of other evaluation tools as result folders: one module a tool, one row, one writer. Never guesses a rating."""
