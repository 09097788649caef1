"""Statistics of agreement among raters and repeats: ICC, kappa, AC1, alpha, variance components."""
