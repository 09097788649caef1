"""Stress tests of judges: whether they notice perturbations, and are not moved by changes that should not matter.

`stress` computes one value; its frame and the printed tables are made from that.
"""

from judge.analysis.stress.compute import stress
from judge.analysis.stress.printed import tables
from judge.analysis.stress.result import Dose, Lost, Null, Paired, QualityControl, Selectivity, Stress

__all__ = ["Dose", "Lost", "Null", "Paired", "QualityControl", "Selectivity", "Stress", "stress", "tables"]
