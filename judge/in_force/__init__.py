"""What a run asks for against what is in force: settings with their evidence, and how long a model lives."""
