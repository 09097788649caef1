"""Reproduction of the studies' published tables from their released files.

Each cell is shown with the number that the study printed, the number that the study's own recipe gives on the files at
hand, and the number of this program's corrected recipe.
"""
