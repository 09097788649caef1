"""Tiers: how plainly a number is stated as a rating. A lower tier is plainer."""

from __future__ import annotations

PLAIN = 1
"""In so many words, or in the form that prompts ask for."""

LIKELY = 2
"""In a form that mostly states a rating."""

STANDING = 3
"""By a number that is a line or the last sentence."""

DOUBTFUL = 4
"""In a way that may mean something else: it is not read, yet an answer that states nothing plainer is ambiguous."""

POSSIBLE = 5
"""By a number that is not read by itself, yet contradicts one that only a sentence states."""

FOREIGN = 9
"""Another quantity under a label of its own: the words before that label do not make it a rating."""
