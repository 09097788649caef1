"""The second rung: a cross-encoder trained on from a language model's weights."""
