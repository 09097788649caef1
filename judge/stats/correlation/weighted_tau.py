"""Kendall's tau-b of stories with integer weights, for many sets of weights and many judges at once.

With weights w, concordant minus discordant pairs are C - D = sum over i < j of w_i w_j s_ij. s_ij is 1 for a concordant
pair of stories, -1 for a discordant one, and 0 for a tie. Copies of one story are tied on both variables, as in any
resample. There are three ways to compute C - D, all exact because all sums are of integers:

- *by units*: if stories are drawn in units (a story-prompt with all its stories), C - D = c'Ac / 2. A holds the sums of
  s_ij between units, and c the counts of units. Time: resamples x units x units, whatever the number of levels.
- *by tables*: contingency tables of the weights are built one level of human ratings at a time, and summed. Time:
  resamples x stories x levels.
- *in steps*: the same along the side with many levels (such as a control's scores), some hundred stories at a time;
  pairs within a step are counted by their signs. Time: resamples x stories x (levels of the other side + a step)."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judge.base.arrays import Codes, Floats
from judge.stats.correlation import kendall

Counts = NDArray[np.integer]
Singles = NDArray[np.float32]
# Single or double precision, whichever holds the integers of a sum exactly.
Reals = NDArray[Any]

# From weights of b resamples, shape (b, stories) or (b, units), to tau-b, shape (judges, b); NaN where undefined.
Statistic = Callable[[Counts], Floats]

# Integers below this are exact in single precision, whatever the order of a sum.
_EXACT_32 = 2**24

# Pairs of stories, or floats, worked on at a time.
_BLOCK = 2_000_000

# Stories of a step along many levels: its signs, and what is counted beyond it, then take about equal time.
_STEP = 128

# Levels of the side with fewer, beyond which its tables in each step take more time than sorting.
_MOST_LEVELS = 1024


def tau_b(x: Codes, y: Codes) -> Callable[[Counts], Floats]:
    """A function from weights, (b, n stories), to tau-b of `x` and `y` in these resamples, (b,); NaN where undefined.

    `x` and `y` (n,) are from `kendall.codes`; -1 = missing, left out pairwise."""
    statistic = by_stories(x[None, :], y)
    return lambda weights: statistic(weights)[0]


def by_units(x: Codes, y: Codes, unit: Codes) -> Statistic:
    """A function from counts of units, (b, units), to tau-b of each judge with people in these resamples, (judges, b).

    `x` (judges, n) and `y` (n,) are the judges' and people's `kendall.codes`; -1 = missing, left out pairwise. `unit`
    (n,) holds the unit (such as story-prompt) of each story, 0..units-1."""
    units = int(unit.max()) + 1 if unit.size else 0
    forms = _forms(x, y, unit, units)
    score = np.concatenate([form.score for form in forms], axis=1)

    def statistic(counts: Counts) -> Floats:
        out = np.empty((len(forms), counts.shape[0]))
        step = max(1, _BLOCK // max(1, score.shape[1]))
        for start in range(0, counts.shape[0], step):
            block = slice(start, start + step)
            out[:, block] = _of_units(counts[block], forms, score)
        return out

    return statistic


def _of_units(counts: Counts, forms: list[_Form], score: Singles) -> Floats:
    sizes = np.stack([form.sizes for form in forms], axis=1)
    n = (counts.astype(np.float64) @ sizes).astype(np.int64)
    largest = int(n.max(initial=0))
    c: Reals = counts.astype(exact(largest * int(sizes.max(initial=0))))
    products = (c @ score.astype(c.dtype, copy=False)).reshape(c.shape[0], len(forms), -1)
    out = np.empty((len(forms), c.shape[0]))
    tied: dict[int, Codes] = {}
    for i, form in enumerate(forms):
        for ties in (form.ties_x, form.ties_y):
            if id(ties) not in tied:
                tied[id(ties)] = ties.tied(counts, c, n[:, i], largest)
        difference = _dot(products[:, i], c, largest) / 2
        out[i] = kendall.ratio(difference, n[:, i], tied[id(form.ties_x)], tied[id(form.ties_y)])
    return out


@dataclass(frozen=True, slots=True)
class _Ties:
    """Data for counting tied pairs of one judge or of people, when units (such as story-prompts) are resampled.

    `table` counts the stories of each level in each unit, (units, levels); None if each unit is one story. With `pairs`
    (more levels than units), it holds the tied pairs between units, (units, units)."""

    level: Codes
    unit: Codes
    table: Singles | None
    pairs: bool = False

    @classmethod
    def of(cls, level: Codes, unit: Codes, units: int) -> _Ties:
        levels = int(level.max(initial=0)) + 1
        if np.bincount(unit, minlength=1).max() <= 1:
            return cls(level, unit, None)
        table = np.bincount(unit * levels + level, minlength=units * levels).reshape(units, levels).astype(np.float32)
        pairs = levels > units
        return cls(level, unit, table @ table.T if pairs else table, pairs)

    def tied(self, counts: Counts, c: Reals, n: Codes, largest: int) -> Codes:
        """Number of tied pairs in each resample; `c` are `counts` as floats, and no sum exceeds `largest`."""
        if self.level.size == 0:
            return np.zeros(n.shape, dtype=np.int64)
        if self.table is None:
            levels = int(self.level.max(initial=0)) + 1
            sums = kendall.level_sums(counts[:, self.unit].astype(np.int64), self.level, levels)
            return np.asarray(kendall.tied_pairs(sums).sum(axis=1), dtype=np.int64)
        product = c @ self.table.astype(c.dtype, copy=False)
        return (_dot(product, c if self.pairs else product, largest) - n) // 2


@dataclass(frozen=True, slots=True)
class _Form:
    """`score`: concordant minus discordant pairs between units; `sizes`: each unit's stories that both rated."""

    score: Singles
    ties_x: _Ties
    ties_y: _Ties
    sizes: Codes


def _forms(x: Codes, y: Codes, unit: Codes, units: int) -> list[_Form]:
    # What is equal for judges with ratings of the same stories is computed once.
    shared: dict[bytes, tuple[_Ties, Codes]] = {}
    forms = []
    for row in x:
        keep = (row >= 0) & (y >= 0)
        level, people, where = kendall.dense(row[keep]), kendall.dense(y[keep]), unit[keep]
        levels = (int(level.max(initial=0)) + 1, int(people.max(initial=0)) + 1)
        if levels[0] * levels[1] <= kendall.DENSE_CELLS:
            score = _score_from_tables(level, people, levels, where, units)
        else:
            score = _between_units(level, people, where, units)
        key = keep.tobytes()
        if key not in shared:
            shared[key] = _Ties.of(people, where, units), np.bincount(where, minlength=units)
        forms.append(_Form(score, _Ties.of(level, where, units), *shared[key]))
    return forms


def _score_from_tables(x: Codes, y: Codes, levels: tuple[int, int], unit: Codes, units: int) -> Singles:
    """Concordant minus discordant pairs between each two units, (units, units), from their contingency tables."""
    cells = levels[0] * levels[1]
    flat = np.bincount((unit * levels[0] + x) * levels[1] + y, minlength=units * cells)
    table = flat.reshape(units, *levels).astype(np.float32)
    higher_x, higher_y = (_signs(np.arange(k), np.arange(k)).astype(np.float32) for k in levels)
    signed = higher_x @ table @ higher_y.T
    return np.asarray(table.reshape(units, cells) @ signed.reshape(units, cells).T, dtype=np.float32)


def _between_units(x: Codes, y: Codes, unit: Codes, units: int) -> Singles:
    """Concordant minus discordant pairs between each two units, (units, units), from the signs of all pairs."""
    out = np.zeros((units, units), dtype=np.float32)
    if x.size == 0:
        return out
    order = np.argsort(unit, kind="stable")
    codes = np.stack([x[order], y[order]]).astype(np.int32)
    present, first = np.unique(unit[order], return_index=True)
    ends = np.append(first[1:], x.size)
    # Sums over one unit's stories stay within the narrow type, so that most of the work is on single bytes.
    narrow = np.int8 if int((ends - first).max()) < 2**7 else np.int32
    at = 0
    while at < present.size:
        after = max(at + 1, int(np.searchsorted(ends, first[at] + _BLOCK // x.size, side="right")))
        rows = slice(first[at], ends[after - 1])
        signs = np.multiply(*(_signs(side[rows], side) for side in codes))
        sums = np.add.reduceat(signs, first[at:after] - first[at], axis=0, dtype=narrow)
        out[np.ix_(present[at:after], present)] = np.add.reduceat(sums, first, axis=1, dtype=np.int32)
        at = after
    return out


def _signs(rows: Counts, level: Counts) -> NDArray[np.int8]:
    """1 where the level of a row's story is higher, -1 where it is lower, 0 for a tie; (rows, n)."""
    return (rows[:, None] > level).view(np.int8) - (rows[:, None] < level).view(np.int8)


def by_stories(x: Codes, y: Codes) -> Statistic:
    """A function from weights, (b, n stories), to tau-b of each judge with people, (judges, b), by the fastest method.

    `x` (judges, n) and `y` (n,) are the judges' and people's `kendall.codes`; -1 = missing, left out pairwise."""
    x, y = np.where(y >= 0, x, -1), np.where((x >= 0).any(axis=0), y, -1)
    judges, people = [kendall.levels(row) for row in x], kendall.levels(y)
    levels, levels_y = [int(row.max(initial=-1)) + 1 for row in judges], int(people.max(initial=-1)) + 1
    if max(levels, default=0) * levels_y <= kendall.DENSE_CELLS:
        return by_tables(x, y)
    if y.size <= kendall.QUADRATIC_N:
        return by_units(x, y, np.arange(y.size))
    each = [
        in_steps(row, y) if min(own, levels_y) <= _MOST_LEVELS else _by_merging(row, y)
        for row, own in zip(x, levels, strict=True)
    ]
    return lambda weights: np.stack([statistic(weights) for statistic in each])


def _by_merging(x: Codes, y: Codes) -> Callable[[Counts], Floats]:
    keep = (x >= 0) & (y >= 0)
    left, right, index = kendall.dense(x[keep]), kendall.dense(y[keep]), np.arange(int(keep.sum()))

    def statistic(weights: Counts) -> Floats:
        draws = (np.repeat(index, row) for row in weights[:, keep])
        return np.array([kendall.tau_b(left[draw], right[draw]) for draw in draws])

    return statistic


def in_steps(x: Codes, y: Codes) -> Callable[[Counts], Floats]:
    """A function from weights, (b, n stories), to tau-b of `x` and `y` in these resamples, (b,), in steps.

    `x` and `y` (n,) are `kendall.codes` of a judge's and people's ratings; -1 = missing, left out pairwise. One of them
    has few levels."""
    kept = np.flatnonzero((x >= 0) & (y >= 0))
    many, few = kendall.dense(x[kept]), kendall.dense(y[kept])
    if few.max(initial=0) > many.max(initial=0):
        many, few = few, many
    order = np.argsort(many, kind="stable")
    many, few, columns = many[order], few[order], kept[order]
    starts = np.flatnonzero(np.diff(many, prepend=-1))
    bounds = _steps([*starts.tolist(), many.size])
    indicators = (few[:, None] == np.arange(int(few.max(initial=0)) + 1)).astype(np.float32)

    def statistic(weights: Counts) -> Floats:
        drawn = weights.take(columns, axis=1)
        largest = int(np.einsum("bn->b", drawn).max(initial=0))
        kind = exact(largest)
        below: Reals = np.zeros((len(drawn), indicators.shape[1]), dtype=kind)
        margin = np.zeros_like(below)
        score = np.zeros(len(drawn), dtype=np.int64)
        for start, stop in itertools.pairwise(bounds):
            w = drawn[:, start:stop].astype(kind)
            here = w @ indicators[start:stop].astype(kind, copy=False)
            if many[start] != many[stop - 1]:
                signs = np.multiply(*(_signs(side[start:stop], side[start:stop]) for side in (many, few)))
                score += _dot(w @ signs.astype(kind), w, largest) // 2
            score += _dot(here, below, largest)
            margin += here
            below += _lower_less_higher(here)
        n = margin.sum(axis=1).astype(np.int64)
        of_levels = drawn if starts.size == drawn.shape[1] else np.add.reduceat(drawn, starts, axis=1)
        tied = (np.einsum("bk,bk->b", of_levels, of_levels, dtype=np.int64) - n) // 2
        return kendall.ratio(score, n, tied, (_dot(margin, margin, largest) - n) // 2)

    return statistic


def _steps(starts: list[int]) -> list[int]:
    """Bounds of steps of at most `_STEP` stories, or of one level; `starts` are where levels begin, and the end."""
    bounds = [0]
    for start, stop in itertools.pairwise(starts):
        if stop - bounds[-1] > _STEP and start > bounds[-1]:
            bounds.append(start)
    return [*bounds, starts[-1]]


def _lower_less_higher(here: Reals) -> Reals:
    """For each level, the weight at lower levels less that at higher ones; `here` (..., levels)."""
    lower: Reals = np.cumsum(here, axis=-1)
    less: Reals = (lower - here) + (lower - lower[..., -1:])
    return less


def by_tables(x: Codes, y: Codes) -> Statistic:
    """`by_stories` by contingency tables; `x` and `y` are as there."""
    ranked = np.flatnonzero(y >= 0)
    order = ranked[np.argsort(y[ranked], kind="stable")]
    starts = np.flatnonzero(np.diff(y[order], prepend=-1))
    bounds = [*starts.tolist(), order.size]
    ordered = bool((np.diff(order) == 1).all())
    columns = slice(int(order[0]), int(order[-1]) + 1) if ordered and order.size else order
    judges = [kendall.levels(row[order]) for row in x]
    k = max((int(level.max()) + 1 for level in judges), default=1) or 1
    indicators = (np.stack(judges, axis=1)[:, :, None] == np.arange(k)).reshape(order.size, -1).astype(np.float32)

    def statistic(weights: Counts) -> Floats:
        out = np.empty((len(judges), weights.shape[0]))
        step = max(1, _BLOCK // max(1, indicators.shape[1] * 16, order.size))
        for start in range(0, weights.shape[0], step):
            block = weights[start : start + step, columns]
            out[:, start : start + step] = _of_tables(block, bounds, indicators, len(judges), k)
        return out

    return statistic


def _of_tables(weights: Counts, bounds: list[int], indicators: Singles, judges: int, k: int) -> Floats:
    """tau-b, (judges, resamples), from tables built one level of human ratings at a time, in ascending order."""
    b = weights.shape[0]
    # A quarter of the time of weights.sum(axis=1), which widens each number first.
    largest = int(np.einsum("bn->b", weights).max(initial=0))
    kind = exact(largest)
    w: Reals = weights.astype(kind)
    indicators = indicators.astype(kind, copy=False)
    below: Reals
    margin: Reals
    below, margin = np.zeros((b, judges, k), dtype=kind), np.zeros((b, judges, k), dtype=kind)
    score, tied_y = np.zeros((b, judges), dtype=np.int64), np.zeros((b, judges), dtype=np.int64)
    for start, stop in itertools.pairwise(bounds):
        here = (w[:, start:stop] @ indicators[start:stop]).reshape(b, judges, k)
        # Each story at this level is compared with those that people rated lower: concordant if the judge rated the
        # other lower too, discordant if higher.
        score += _dot(here, below, largest)
        tied_y += kendall.tied_pairs(here.sum(axis=-1).astype(np.int64))
        margin += here
        below += _lower_less_higher(here)
    n = margin.sum(axis=-1).astype(np.int64)
    return kendall.ratio(score, n, (_dot(margin, margin, largest) - n) // 2, tied_y).T


def _dot(a: Reals, b: Reals, largest: int) -> Codes:
    """Sums of products over the last axis, exact: in single precision only if `largest`² is below 2**24."""
    sums: Reals = np.einsum("...k,...k->...", a, b, dtype=exact(largest * largest))
    return sums.astype(np.int64)


def exact(largest: int) -> type[np.float32] | type[np.float64]:
    """Float type that holds integer sums up to `largest` exactly: single precision below 2**24, otherwise double."""
    return np.float32 if largest < _EXACT_32 else np.float64


def pairs_of_rows(x: Floats, y: Floats, mass: Codes) -> tuple[Codes, Codes, Codes]:
    """Pairs of groups (such as systems) in each of b resamples: concordant minus discordant, untied on x, untied on y.

    `x` and `y` (b, groups) are means of the judge's and people's ratings, rounded so that ties are equal; groups with a
    NaN are in no pair. `mass` (b, groups) is how often each group counts; copies of a group are tied."""
    b, groups = x.shape
    score, untied_x, untied_y = (np.zeros(b, dtype=np.int64) for _ in range(3))
    for i in range(groups - 1):
        weight = mass[:, i : i + 1] * mass[:, i + 1 :]
        sign_x, sign_y = (np.sign(side[:, i + 1 :] - side[:, i : i + 1]) for side in (x, y))
        weight = np.where(np.isnan(sign_x + sign_y), 0, weight)
        sign_x, sign_y = np.nan_to_num(sign_x).astype(np.int64), np.nan_to_num(sign_y).astype(np.int64)
        score += (weight * sign_x * sign_y).sum(axis=1)
        untied_x += (weight * np.abs(sign_x)).sum(axis=1)
        untied_y += (weight * np.abs(sign_y)).sum(axis=1)
    return score, untied_x, untied_y
