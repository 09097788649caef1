"""Compares the quality of the stories that each system wrote."""
