"""Juries: several judges combined into one, with ratings predicted out of fold."""
