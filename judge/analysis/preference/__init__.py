"""Analyses of preferences between two stories.

They cover agreement with people, the effect of the order shown, rankings of systems and stories, and transitivity.
"""
