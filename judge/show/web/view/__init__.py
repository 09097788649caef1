"""`judge view`: read-only web pages about all runs of a folder. The pages write no files except caches of computed
results.
"""
