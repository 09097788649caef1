"""Settings that a run requests, whether each is in force, with evidence, and how long a model will be available."""
