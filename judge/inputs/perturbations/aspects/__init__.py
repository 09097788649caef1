"""Discrimination tests as in OpenMEVA, one module per aspect: changes that a good judge should rate lower."""
