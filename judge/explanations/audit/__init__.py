"""Audits of judges' explanations by people: drawing a sample, storing and exchanging answers, and the report."""
