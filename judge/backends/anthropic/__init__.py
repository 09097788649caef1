"""Back-end for Anthropic's Messages API."""
