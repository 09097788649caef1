"""Reliability of a judge's ratings: consistency over repeats, variance components, decision studies."""
