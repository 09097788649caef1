"""Tiers: how plainly a number is stated as a rating. A lower tier is plainer."""

from __future__ import annotations

# In so many words, or in the form that prompts ask for.
PLAIN = 1

# In a form that mostly states a rating.
LIKELY = 2

# By a number that is a line or the last sentence.
STANDING = 3

# In a way that may mean something else: it is not read, yet an answer that states nothing plainer is ambiguous.
DOUBTFUL = 4

# By a number that is not read by itself, yet contradicts one that only a sentence states.
POSSIBLE = 5

# Another quantity under a label of its own: the words before that label do not make it a rating.
FOREIGN = 9
