"""Analysis of a judge's repeats: how agreement with people depends on their number and on how they are combined."""

from judge.analysis.repeats.compute import repeats, tables, with_stated
from judge.analysis.repeats.result import Apart, Count, Repeats, Stratum, Summed

__all__ = ["Apart", "Count", "Repeats", "Stratum", "Summed", "repeats", "tables", "with_stated"]
