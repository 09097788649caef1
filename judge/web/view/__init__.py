"""`judge view`: read-only pages over all runs of a folder, which write nothing but caches."""
