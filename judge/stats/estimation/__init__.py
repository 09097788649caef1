"""Means and differences with intervals, tests of them, and corrections for many tests."""
