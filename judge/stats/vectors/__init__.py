"""Statistics of texts represented as unit vectors: cosine similarity, nearest neighbours, silhouettes."""
