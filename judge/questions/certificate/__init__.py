"""Certificates: a record of how well a judge agrees with people, by Eval-Prompt and criterion, and whether this meets
given conditions.
"""
