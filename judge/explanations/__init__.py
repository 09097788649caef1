"""Analysis of explanations: texts, embeddings, maps, clusters, keywords, measures."""
