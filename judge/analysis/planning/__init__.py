"""What a study takes before it is run, from a pilot or from the studies' variances, and what is worth paying next."""

from __future__ import annotations

from judge.analysis.planning.compute import plan, plan_like
from judge.analysis.planning.printed import tables
from judge.analysis.planning.result import Planned

__all__ = ["Planned", "plan", "plan_like", "tables"]
