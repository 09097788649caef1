"""Tables of agreement with people other than the correlations: accuracy, labels, replacement, drift."""
