"""Means over criteria: of estimates, and of whole rows of a correlation table.

A mean is undefined, with a reason, if the value of any criterion is undefined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from judge.analysis.correlation.reference_rows import Values
from judge.analysis.correlation.result import CorrelationRow
from judge.base.estimate import Estimate

Part = tuple[str, Estimate, Values]
"""A criterion, the estimate on it, and its values in each set of resamples."""


def mean_of(parts: Sequence[Part]) -> tuple[Estimate, Values]:
    """Unweighted mean of one rater's correlations over criteria, and its value in each resample.

    Each part holds (criterion, estimate of the correlation, its resampled values). The mean is undefined if any
    estimate is undefined.
    """
    undefined = [(criterion, estimate) for criterion, estimate, _ in parts if estimate.value is None]
    if undefined:
        first = undefined[0][1]
        same = tuple(criterion for criterion, estimate in undefined if estimate.reason == first.reason)
        return Estimate.undefined(replace(first.why, criteria=same, of=len(parts))), ()
    value = float(np.mean([estimate.value for _, estimate, _ in parts if estimate.value is not None]))
    mean = Estimate(value, n=min(estimate.n for _, estimate, _ in parts))
    return mean, tuple(np.mean(values, axis=0) for values in zip(*(values for _, _, values in parts), strict=True))


def mean_row(group: Sequence[CorrelationRow]) -> CorrelationRow:
    """Mean over criteria of the rows of one judge, ceiling or control; counts of lost ratings are summed."""
    criteria = tuple(row.subject.criterion for row in group)
    against = {row.subject.against for row in group}
    missing: dict[str, int] = {}
    for row in group:
        for status, count in row.subject.missing.items():
            missing[status] = missing.get(status, 0) + count
    repeats = [row.subject.repeats for row in group if row.subject.repeats is not None]
    unrated = [row.subject.unrated for row in group if row.subject.unrated is not None]
    subject = replace(
        group[0].subject,
        criterion=f"mean of {len(group)} criteria",
        against=against.pop() if len(against) == 1 else None,
        repeats=float(np.mean(repeats)) if repeats else None,
        unrated=sum(unrated) if unrated else None,
        missing=missing,
    )
    estimate, values = mean_of([(row.subject.criterion, row.estimate, row.resampled) for row in group])
    return CorrelationRow(
        subject,
        estimate,
        min(row.stories for row in group),
        min(row.systems for row in group),
        averaged=criteria,
        is_control=group[0].is_control,
        resampled=values,
        further=_mean_further(group),
    )


def _mean_further(group: Sequence[CorrelationRow]) -> dict[str, Estimate]:
    """Map from the name of each additional number of the rows to its mean over criteria.

    A criterion without such a number contributes its own correlation.
    """
    names = dict.fromkeys(name for row in group for name in row.further)
    return {
        name: mean_of([(row.subject.criterion, row.further.get(name, row.estimate), ()) for row in group])[0]
        for name in names
    }
