"""Conversion of the answers and scores that studies have released into result folders."""
