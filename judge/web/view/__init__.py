"""`judge view`: pages over all runs of a folder. Never writes but caches, and never asks a judge."""
