"""Inputs of every analysis: candidates, the control, people's ratings, matched criteria."""
