"""Stress tests of judges: perturbed versions of the stories of a dataset are written to a file, and judges then rate
them.
"""
