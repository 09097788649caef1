"""Settings that a run requests against those in force, with evidence, and how long a model is available."""
