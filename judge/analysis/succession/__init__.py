"""Tests whether a new judge may replace an old one: equivalence on the same stories, conversion between their scales
(crosswalks), changed verdicts, and the number of further stories needed."""

from __future__ import annotations

from judge.analysis.succession.compute import succession
from judge.analysis.succession.result import Succession, tables

__all__ = ["Succession", "succession", "tables"]
