"""vLLM's engine in this process."""
