"""Contamination: whether a model has seen the stories in training. Computes scores of texts, their accuracy, and the
effect on a judge's validity.
"""
