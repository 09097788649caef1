"""Stress tests of judges on changed (perturbed) stories: whether they notice damage and ignore what should not matter.

`stress` returns one value, from which the data frame and the printed tables are made.
"""

from judge.analysis.stress.compute import stress
from judge.analysis.stress.printed import tables
from judge.analysis.stress.result import Dose, Lost, Null, Paired, QualityControl, Selectivity, Stress

__all__ = ["Dose", "Lost", "Null", "Paired", "QualityControl", "Selectivity", "Stress", "stress", "tables"]
