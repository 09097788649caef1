"""Simulated studies whose truth is known: what the comparisons say of judges that are good, null or faulty.

Each module simulates what it names, prints a table of figures with their bars, and asserts nothing; see the README of
the folder above. The studies come from `worlds`, which shares no model with the program's own self-test.
"""
