"""Statistics of shares and of two classes: proportions, prevalence, ROC curves and the area under them."""
