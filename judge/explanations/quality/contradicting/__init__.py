"""Answers whose explanation supports another rating than the stated one: rules that flag them, their precision, and the
table.
"""
