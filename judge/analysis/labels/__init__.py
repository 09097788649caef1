"""Labels by judges beside people's: accuracy to alpha, confusion matrices, one person against the others, null judges.

`confusions` computes one value; its frame and the printed tables are made from that.
"""

from judge.analysis.labels.compute import confusions
from judge.analysis.labels.printed import tables
from judge.analysis.labels.result import Beside, ConfusionRow, Confusions

__all__ = ["Beside", "ConfusionRow", "Confusions", "confusions", "tables"]
