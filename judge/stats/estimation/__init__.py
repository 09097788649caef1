"""Means and differences with intervals, their tests, and corrections for multiple tests."""
