"""Perturbations: changes of stories that test whether a judge reacts to them, with their catalogue."""
