"""Texts for a paper: the methods paragraph, references, and a reviewer's checklist."""
