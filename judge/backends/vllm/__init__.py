"""Back-end that runs vLLM's engine in this process."""
