"""Effect of the order in which two stories are shown to a judge.

Noise (different preferences for the same pair in the same order) is separated from the effect of position (different
preferences when the order is swapped).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.analysis.options.signature import Signed
from judge.analysis.options.table_options import RankOptions
from judge.analysis.preference.agreement import flat_estimates
from judge.analysis.preference.sides import Pairs, Side
from judge.base.estimate import Estimate
from judge.stats.comparing.strengths import Strengths
from judge.stats.estimation import means
from judge.stats.ordering.ranking import mean_share, win_rate

Floats = NDArray[np.float64]

NO_REPEATS = "undefined: no order of a pair was asked twice"
ONE_SYSTEM = "undefined: all stories are of one system"
NO_SWAP = "undefined: no pair was shown in both orders"


@dataclass(frozen=True, slots=True)
class OrderRow:
    """Effect of the order shown on one judge and criterion. `third` of the pairs by difference in length: 0 = most
    similar, None = all pairs. `first` is the share of comparisons that the story shown first won, with ties as one
    half. `position` is the advantage of the first position in log odds, from the fit of the systems' strengths; only
    for all pairs. `same` and `swapped` are the probabilities that another comparison of the pair gives the same
    preference, in the same order (noise only) and in the other (noise and position); n counts pairs. `place` is `same`
    minus `swapped` on the pairs that have both: the effect of position beyond noise. `comparisons` have a preference.
    """

    dataset: str
    run: str | None
    judge: str
    eval_prompt: str | None
    criterion: str
    third: int | None
    first: Estimate
    position: Estimate
    same: Estimate
    swapped: Estimate
    place: Estimate
    comparisons: int

    def numbers(self) -> dict[str, Estimate]:
        """The row's estimates by frame column."""
        names = ("first", "position", "same", "swapped", "place")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True, eq=False)
class Order(Signed):
    """Effect on each judge's preferences of the order in which two stories are shown."""

    rows: tuple[OrderRow, ...]
    options: RankOptions

    @property
    def frame(self) -> pd.DataFrame:
        """One row per judge, criterion and third (null = all pairs); estimates have `_low`, `_high` and `_reason`."""
        return self.signed([_flat(row) for row in self.rows])


def order_rows(side: Side, fitted: Strengths | None) -> Iterator[OrderRow]:
    """For all pairs, then for each third by difference in length; no rows where the order shown is unknown."""
    if not side.placed:
        return
    yield _row(side, None, Estimate.undefined(ONE_SYSTEM) if fitted is None else fitted.position)
    third = side.pairs.thirds[side.pair]
    for k in range(3):
        rows = np.flatnonzero(third == k)
        if rows.size:
            yield _row(side.only(rows), k, Estimate.undefined("of all pairs alone"))


def _row(side: Side, third: int | None, position: Estimate) -> OrderRow:
    pairs, prompt = side.pairs, side.pairs.prompt
    lead = np.where(side.forward, side.value, -side.value)
    same, swapped = _repeated(side), _swapped(side)
    return OrderRow(
        dataset=pairs.dataset,
        run=side.run,
        judge=side.name,
        eval_prompt=side.eval_prompt,
        criterion=side.criterion,
        third=third,
        first=win_rate(lead, prompt[side.pair]).estimate,
        position=position,
        same=_share(same, pairs, NO_REPEATS),
        swapped=_share(swapped, pairs, NO_SWAP),
        place=_mean(same - swapped, pairs, "undefined: no pair has both repeats and swapped orders"),
        comparisons=int(side.pair.size),
    )


def _share(values: Floats, pairs: Pairs, nothing: str) -> Estimate:
    """Mean of one share per pair, with an interval within 0 to 1; undefined if all are NaN."""
    return Estimate.undefined(nothing) if np.isnan(values).all() else mean_share(values, pairs.prompt)


def _mean(values: Floats, pairs: Pairs, nothing: str) -> Estimate:
    if np.isnan(values).all():
        return Estimate.undefined(nothing)
    return means.clustered(values, pairs.prompt, bounds=means.OF_SHARES)


def _counts(side: Side) -> tuple[Floats, Floats]:
    """Counts of (story a, story b, neither) preferred, shape (pairs, 3): where a was shown first, then where b was."""
    outcome = (1 - np.sign(side.value)).astype(np.int64)
    tables = []
    for shown in (side.forward, ~side.forward):
        cell = side.pair[shown] * 3 + outcome[shown]
        tables.append(np.bincount(cell, minlength=3 * side.pairs.n).reshape(-1, 3).astype(np.float64))
    return tables[0], tables[1]


def _repeated(side: Side) -> Floats:
    """Share of equal preferences among two comparisons in the same order, shape (pairs,); NaN = no order has two."""
    agree = number = np.zeros(side.pairs.n)
    for counts in _counts(side):
        total = counts.sum(axis=1)
        agree = agree + (counts * (counts - 1)).sum(axis=1)
        number = number + total * (total - 1)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(number > 0, agree / np.maximum(number, 1), np.nan), dtype=np.float64)


def _swapped(side: Side) -> Floats:
    """Share of equal preferences among two comparisons in opposite orders, shape (pairs,); NaN = not in both orders."""
    forward, backward = _counts(side)
    number = forward.sum(axis=1) * backward.sum(axis=1)
    return np.asarray(np.where(number > 0, (forward * backward).sum(axis=1) / np.maximum(number, 1), np.nan))


def _flat(row: OrderRow) -> dict[str, object]:
    names = ("dataset", "run", "judge", "eval_prompt", "criterion", "third", "comparisons")
    return {name: getattr(row, name) for name in names} | flat_estimates(row.numbers())
