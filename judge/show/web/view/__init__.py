"""`judge view`: read-only web pages about all runs of a folder. They write only caches of computed results."""
