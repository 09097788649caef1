"""Stress tests of judges on changed (perturbed) stories: do they notice damage and ignore what should not matter?"""

from judge.analysis.stress.compute import stress
from judge.analysis.stress.printed import tables
from judge.analysis.stress.result import Dose, Lost, Null, Paired, QualityControl, Selectivity, Stress

__all__ = ["Dose", "Lost", "Null", "Paired", "QualityControl", "Selectivity", "Stress", "stress", "tables"]
