"""Perturbations of stories, which test whether a judge reacts to them: the catalogue and the functions."""
