"""Unit vectors of texts: cosine similarity, nearest neighbours, silhouettes."""
