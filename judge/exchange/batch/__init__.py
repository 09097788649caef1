"""Batch APIs and batch files: requests out, results in."""
