"""Perturbations of a whole story: changed order, a removed end, or another text in its place."""
