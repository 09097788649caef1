"""Compares judges' labels with human labels: accuracy, kappa, alpha and other statistics, and confusion matrices.

One person against the other people and null judges, which ignore the stories, serve as references. `confusions` returns
one value, from which the data frame and the printed tables are made.
"""

from judge.analysis.labels.compute import confusions
from judge.analysis.labels.result import Beside, ConfusionRow, Confusions, tables

__all__ = ["Beside", "ConfusionRow", "Confusions", "confusions", "tables"]
