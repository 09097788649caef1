"""`judge check`: reads a table with ratings by a judge and by people, and reports the roles of its columns and what
data are missing.
"""
