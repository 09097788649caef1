"""Ratings and answers that were made elsewhere, brought into result folders. Never asks a judge."""
