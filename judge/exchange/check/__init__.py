"""One table of a judge's and people's ratings, looked at as it is: which column holds what, and what it cannot tell."""
