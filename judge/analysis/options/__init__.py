"""Choices of the tables, and the signature that names them."""
