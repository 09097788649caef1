"""Shares and two classes: proportions, prevalence, ROC curves and the area under them."""
