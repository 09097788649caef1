"""Logs of other evaluation tools as result folders: one module for each tool, one row type, one writer."""
