"""Compares pooled correlations with those within classes of stories: author (human or not), system, dataset."""

from judge.analysis.classes.compute import classes
from judge.analysis.classes.result import Classes, ClassPart, ClassRow, beside, notes, sentence, tables

__all__ = ["ClassPart", "ClassRow", "Classes", "beside", "classes", "notes", "sentence", "tables"]
