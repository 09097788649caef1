"""Prints results for people and programs: tables in every format, LaTeX, dollars, the terminal's width."""
