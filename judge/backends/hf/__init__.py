"""Transformers models in this process: generation, scoring of texts, local weights, packaged models."""
