"""`judge view`: web pages about all runs of a folder. They write caches, and what is wanted of a run that goes on."""
