"""Planning of a study from a pilot or published variances: sample sizes needed, and which expense pays off most."""

from __future__ import annotations

from judge.analysis.planning.compute import plan, plan_like
from judge.analysis.planning.price_of_validity import Planned
from judge.analysis.planning.printed import tables

__all__ = ["Planned", "plan", "plan_like", "tables"]
