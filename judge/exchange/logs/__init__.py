"""Conversion of other evaluation tools' logs into result folders. Each tool has one module; all share the type of rows
and the writer.
"""
