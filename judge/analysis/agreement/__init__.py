"""Pairwise accuracy, binary labels, replacement of people by a judge, and equality of correlations over systems and
datasets.
"""
