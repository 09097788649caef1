"""Draws the sample of explanations that an audit asks about."""
