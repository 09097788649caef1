"""Correlation with people by the number of repeats and by how repeats are combined.

Beside that, by how far people disagree on a story, and how far judges' ratings are distributed otherwise than people's.
"""

from judge.analysis.repeats.compute import repeats
from judge.analysis.repeats.printed import tables
from judge.analysis.repeats.result import Apart, Count, Repeats, Stratum, Summed
from judge.analysis.repeats.stated import with_stated

__all__ = ["Apart", "Count", "Repeats", "Stratum", "Summed", "repeats", "tables", "with_stated"]
