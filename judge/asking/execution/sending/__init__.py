"""Sending of requests: their order, rate limits, retries and budget."""
