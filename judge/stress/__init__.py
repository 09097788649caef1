"""Stress tests: perturbed stories of a dataset, as a file that judges are run on."""
