"""Programs of their own beside judging: measures, stress sets, generation, training, trying a prompt, the self-test."""
