"""Paired comparisons: strengths of systems from which of two stories was preferred, and whether they make an order."""
