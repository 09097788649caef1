"""Contamination: whether a model has seen the stories in training, by scores that are higher for seen texts, their
accuracy, and how a judge's validity differs between stories that seem seen and the others."""
