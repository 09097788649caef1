"""Analyses of agreement between judges and human raters other than the correlation tables.

They cover pairwise accuracy, binary labels, replacement of people by a judge, and equality of correlations across
systems and datasets.
"""
