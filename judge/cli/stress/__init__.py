"""Commands about stories changed on purpose."""
