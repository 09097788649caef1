"""Encoder evaluators: a cross-encoder trained further from a language model's weights."""
