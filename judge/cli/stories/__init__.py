"""Commands about stories and prompts."""
