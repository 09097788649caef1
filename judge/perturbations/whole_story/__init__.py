"""Perturbations of a whole story: its order lost, its end removed, or the story replaced."""
