"""Pairwise accuracy, binary labels, replacement of people, and equality of correlations over systems and datasets."""
