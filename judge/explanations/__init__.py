"""Analysis of judges' explanations of their ratings: corpora, embeddings, maps, clusters, keywords and quality
measures."""
