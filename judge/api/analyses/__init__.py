"""One function for each analysis of an opened run. It turns keyword arguments into options, computes the analysis, and
returns its frame and tables.
"""
