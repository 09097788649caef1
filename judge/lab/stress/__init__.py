"""Stress tests of judges: perturbed versions of a dataset's stories are written to a file, and judges rate them."""
