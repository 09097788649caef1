"""What a run.yaml says: the run, and the judges that it asks."""
