"""Correlation coefficients of two sets of ratings, their tests against each other, and human ceilings."""
