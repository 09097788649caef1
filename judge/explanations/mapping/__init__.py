"""Explanations as vectors: embeddings, a map, clusters, keywords."""
