"""Classifies each row of a stress test as a finding in one or two words, such as ``found``, ``missed`` or
``fell for``.
"""

from __future__ import annotations

from judge.analysis.options.table_options import StressOptions
from judge.analysis.stress.result import Finding, Paired

HALF_FOUND = 0.75
"""Detection of a judge that notices half of the pairs and guesses at the others."""

_HALF = 0.5


def finding(row: Paired, options: StressOptions) -> Finding | None:
    """The finding on a row (one or two words such as ``found`` or ``fell for``), from its intervals and its p value
    (the adjusted one if there is one).

    None if an interval is missing. Also None if the perturbation should lower ratings on other criteria but not on the
    row's criterion.
    """
    if row.detection.estimate.low is None or not (row.expected or row.facts.test != "discrimination"):
        return None
    if row.facts.test == "discrimination":
        return _discrimination(row, options)
    if row.facts.test == "invariance":
        return _invariance(row, options)
    if row.facts.test == "attack":
        return _attack(row, options)
    return _degenerate(row)


def _significant(row: Paired, options: StressOptions) -> bool:
    p = row.p if row.adjusted is None else row.adjusted
    return p is not None and p <= options.alpha


def _discrimination(row: Paired, options: StressOptions) -> Finding:
    share = row.detection.estimate
    if _significant(row, options):
        if (share.value or 0) < _HALF:
            return "prefers"
        return "found" if (share.value or 0) >= HALF_FOUND else "weak"
    return "missed" if share.high is not None and share.high < HALF_FOUND else "open"


def _invariance(row: Paired, options: StressOptions) -> Finding:
    if row.same is not None:
        p, drop = row.same.p, row.same.difference.value
        if p is not None and p <= options.alpha:
            return "same"
        if p is None and drop is not None and abs(drop) < options.margin:
            return "same"  # all differences are equal, and small: there is nothing to test
    return "moved" if _significant(row, options) else "open"


def _attack(row: Paired, options: StressOptions) -> Finding:
    if row.measured:  # there are no points, hence no margin
        low = row.detection.estimate.low
        return "withstood" if low is not None and low >= _HALF else "fell for" if _significant(row, options) else "open"
    least = row.drop.value if row.drop.low is None else row.drop.low
    if least is not None and least > -options.margin:
        return "withstood"
    return "fell for" if _significant(row, options) and (row.drop.value or 0) < 0 else "open"


def _degenerate(row: Paired) -> Finding | None:
    share = row.lowest
    if share is None or share.low is None or share.high is None:
        return None
    return "seen" if share.low > _HALF else "fell for" if share.high < _HALF else "open"
