"""Analyses of preferences between two stories: agreement with people, order, systems, stories, transitivity."""
