"""Certificates: a record of how well a judge agrees with human ratings, for which Eval-Prompts and criteria, and
whether this meets given conditions.
"""
