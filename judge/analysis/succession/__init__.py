"""May a new judge replace an old one? Equivalence on the same stories, crosswalks, verdicts, stories still needed."""

from __future__ import annotations

from judge.analysis.succession.compute import succession
from judge.analysis.succession.printed import tables
from judge.analysis.succession.result import Succession

__all__ = ["Succession", "succession", "tables"]
