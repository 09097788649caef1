"""Compares judges with readers on which aspects of a story stand out, and on how these aspects are rated.

The readers themselves chose which aspects to rate and comment on.
"""
