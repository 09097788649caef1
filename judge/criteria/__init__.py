"""Criteria sets: criteria with scale, guidelines and the wording of a study."""

from judge.criteria.criteria_set import CriteriaSet, load_criteria, shipped_criteria
from judge.criteria.wording import Published

__all__ = ["CriteriaSet", "Published", "load_criteria", "shipped_criteria"]
