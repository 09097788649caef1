"""Numbers about explanations: presence, specificity, stability, groundedness, agreement with the rating."""
