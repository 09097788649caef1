"""Explanations as vectors (embeddings), and what is computed from them: a map, clusters and keywords."""
