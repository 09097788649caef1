"""Analyses of preferences between two stories: agreement with people, order effect, rankings, and transitivity."""
