"""Compares pooled correlations with correlations within classes of stories: author (human or not), system, dataset.

`classes` uses correlations that were already computed; its result holds the data frame, tables and notes.
"""

from judge.analysis.classes.compute import classes
from judge.analysis.classes.result import Classes, ClassPart, ClassRow, beside, notes, sentence, tables

__all__ = ["ClassPart", "ClassRow", "Classes", "beside", "classes", "notes", "sentence", "tables"]
