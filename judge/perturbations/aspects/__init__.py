"""Discrimination tests of OpenMEVA, one module for each aspect: changes that a good judge should rate lower."""
