"""Counting loops that numba compiles where it is installed; equal numbers without it."""
