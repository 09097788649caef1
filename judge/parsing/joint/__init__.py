"""One answer about several criteria: the part that speaks of each, read by the parser of single ratings."""
