"""Commands about stress tests: stories that were perturbed on purpose."""
