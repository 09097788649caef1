"""Analyses of criteria: whether they measure different things, and how the scale is used."""
