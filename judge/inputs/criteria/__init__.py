"""Criteria sets: criteria with their scales, guidelines and wording, as a study published them."""

from judge.inputs.criteria.criteria_set import CriteriaSet, Published, load_criteria, shipped_criteria

__all__ = ["CriteriaSet", "Published", "load_criteria", "shipped_criteria"]
