"""Training of judges on human preferences and ratings. Accuracy is reported out of fold only, i.e. on stories on which
the model was not fitted.
"""
