"""Training of judges on human preferences and ratings. Accuracy is reported out of fold only, i.e. for stories that
were held out when the model was fitted.
"""
