"""Agreement among raters and repeats: ICC, kappa and its relatives, alpha, variance components."""
