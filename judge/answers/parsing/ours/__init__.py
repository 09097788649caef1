"""The parser `ours`: reads a rating and an explanation from an answer's text, or gives the status that says why there
is no rating.
"""
