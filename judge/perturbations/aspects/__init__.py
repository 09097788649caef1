"""Discrimination aspects of OpenMEVA, one module each: changes that a good judge should notice."""
