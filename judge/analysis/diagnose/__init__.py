"""Diagnostics: known biases of judges, each as a test against people on the same stories.

A diagnostic is a statistic that is zero for a judge that rates as people do, its interval and a test with a declared
alpha; undefined ones say why. What a test could have missed stands beside it as the smallest effect that would be
found in four of five repetitions (2.8 standard errors, more with few degrees of freedom).

`diagnose` computes one value; its frame, the printed tables and the report's counts are made from that.
"""

from judge.analysis.diagnose.compute import diagnose
from judge.analysis.diagnose.kinds import DIAGNOSTICS, Diagnostic, Finding
from judge.analysis.diagnose.printed import counted, tables
from judge.analysis.diagnose.result import Diagnosis

__all__ = ["DIAGNOSTICS", "Diagnosis", "Diagnostic", "Finding", "counted", "diagnose", "tables"]
