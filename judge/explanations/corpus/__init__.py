"""Corpora of explanations with their metadata, from runs, files and studies."""
