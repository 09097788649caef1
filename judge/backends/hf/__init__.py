"""transformers in this process: generation, scoring, local weights, packaged models."""
