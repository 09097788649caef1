"""Quality measures of explanations: presence, specificity, stability, groundedness, agreement with the rating."""
