"""Explanations as data: texts, embeddings, maps, clusters, keywords. Never asks a judge and never changes a rating."""
