"""Contamination: whether a model has seen the stories in training.

Computes scores that are higher for texts a model has probably seen, how accurately these scores separate seen from
unseen texts, and how a judge's validity differs between stories that seem seen and the others.
"""
