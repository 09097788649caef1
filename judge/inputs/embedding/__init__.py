"""Embeddings: texts as vectors of unit length, computed once and cached."""
