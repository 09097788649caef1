"""Sending of requests: order, pace, retries, limits, budget."""
