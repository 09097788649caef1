"""Diagnostics: tests for known biases of judges, in comparison with people on the same stories.

A diagnostic is a statistic that is zero for a judge that rates as people do, with an interval and a test at a declared
alpha; an undefined diagnostic gives the reason. Each test also reports the smallest effect that it would detect in four
of five repetitions (2.8 standard errors, more with few degrees of freedom).
"""

from judge.analysis.diagnose.kinds import DIAGNOSTICS, Diagnostic, Finding
from judge.analysis.diagnose.printed import counted, tables
from judge.analysis.diagnose.result import Diagnosis, diagnose

__all__ = ["DIAGNOSTICS", "Diagnosis", "Diagnostic", "Finding", "counted", "diagnose", "tables"]
