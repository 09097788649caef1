"""Compares judges with readers on which aspects of a story, chosen by the readers, stand out and how they are rated."""
