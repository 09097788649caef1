"""Commands about how a judge goes wrong."""
