"""Correlations of two sets of ratings, tests of differences between correlations, and human ceilings."""
