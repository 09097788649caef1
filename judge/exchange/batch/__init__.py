"""Batch APIs and batch files: writing the requests of a run and reading their results."""
