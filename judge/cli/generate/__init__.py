"""Commands about stories that models write."""
