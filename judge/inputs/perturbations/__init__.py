"""Perturbations: changes of stories that test whether a judge reacts to them. The package holds their catalogue and
their functions.
"""
