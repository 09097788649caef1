"""Reproduction of the studies' published tables from their released files. Each cell has the number that the study
printed, that of the study's own recipe on the files at hand, and that of this program's corrected recipe."""
