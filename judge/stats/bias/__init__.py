"""Systematic differences of a rater's ratings from others': leniency, compression, halo, self-preference."""
