"""Paraphrases of sentences of stories, from a model or from a file of back-translations."""
