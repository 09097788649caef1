"""Readers of the studies' released files, one module for each dataset, and of the packaged demo set."""
