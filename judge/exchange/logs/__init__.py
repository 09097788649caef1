"""Conversion of other tools' logs into result folders: one module for each tool; all share rows and writer."""
