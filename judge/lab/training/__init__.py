"""Training of judges on human preferences and ratings. Accuracy is reported out of fold only."""
