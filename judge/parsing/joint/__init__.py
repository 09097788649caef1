"""Answers about several criteria: each criterion's part is read by the parser of single ratings."""
