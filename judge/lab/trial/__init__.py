"""Trial of a judge on one story, or on two stories that it compares, without a run: queries, answers, and one sheet
with the results.
"""
