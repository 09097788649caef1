"""Pooled correlations beside those within classes: author (people or not), system, dataset.

`classes` takes correlations that were computed; its frame, tables and notes are made from one value.
"""

from judge.analysis.classes.compute import classes
from judge.analysis.classes.printed import beside, notes, sentence, tables
from judge.analysis.classes.result import Classes, ClassPart, ClassRow

__all__ = ["ClassPart", "ClassRow", "Classes", "beside", "classes", "notes", "sentence", "tables"]
