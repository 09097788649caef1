"""Attacks: additions to a story that try to raise its rating, by words around it or by length."""
