"""Commands for the first steps: checking the installation, trying a judge, planning and defining a run."""
