"""Preferences between two stories: agreement with people, orders, systems, stories, transitivity. Invents none."""
