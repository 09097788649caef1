"""Explanations with what is known of each, out of runs, files and studies."""
