"""Analyses of criteria: whether they measure different things, and how raters use their scales."""
