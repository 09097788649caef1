"""Compares judges' labels with people's: accuracy, kappa, alpha and others, and confusion matrices.

One person against the other people, and null judges, which ignore the stories, serve as references."""

from judge.analysis.labels.compute import confusions
from judge.analysis.labels.result import Beside, ConfusionRow, Confusions, tables

__all__ = ["Beside", "ConfusionRow", "Confusions", "confusions", "tables"]
