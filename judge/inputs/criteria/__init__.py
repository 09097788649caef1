"""Criteria sets: criteria with their scales, guidelines and wording, as a study published them."""

from judge.inputs.criteria.criteria_set import CriteriaSet, load_criteria, shipped_criteria
from judge.inputs.criteria.wording import Published

__all__ = ["CriteriaSet", "Published", "load_criteria", "shipped_criteria"]
