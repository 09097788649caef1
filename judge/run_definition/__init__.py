"""The definition of a run in run.yaml: the run, and the judges that it asks."""
