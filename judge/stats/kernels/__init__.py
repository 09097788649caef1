"""Counting loops for the statistics, compiled by numba where it is installed. Results are the same without numba."""
