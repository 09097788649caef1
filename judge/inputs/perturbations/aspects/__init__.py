"""Perturbations for discrimination tests, as in OpenMEVA, one module for each aspect: changes of a story that a good
judge should rate lower.
"""
