"""Training of encoder judges: a cross-encoder that is fine-tuned from the weights of a language model."""
