"""Stress tests of judges: writes perturbed stories of a dataset to a file, which judges then rate."""
