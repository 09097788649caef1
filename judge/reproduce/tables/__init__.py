"""Computes the studies' published tables; one module for each kind of table."""
