"""Criteria sets: what is rated, on which scale, by which guidelines, and in whose words. Never renders a prompt."""

from judge.criteria.criteria_set import CriteriaSet, load_criteria, shipped_criteria
from judge.criteria.wording import Published

__all__ = ["CriteriaSet", "Published", "load_criteria", "shipped_criteria"]
