"""Inputs shared by all analyses: the judges to compare, the control judge, human ratings, matched criteria."""
