"""HANNA's tables of Williams' tests: Beluga-13B under Eval-Prompt 1 against each other judge or measure. Cells are
adjusted p values x100. The study tests one-sided, and only where Beluga-13B is higher; its other cells are blank. The
corrected recipe tests two-sided, and adjusts over all comparisons of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from judge.base.estimate import Estimate
from judge.reproduce.cell import OURS, Numbers, Place, Recipe
from judge.reproduce.tables.correlations import FIRST_EVAL_PROMPT, LEVELS, Level, sides, tau
from judge.reproduce.tables.family import Family
from judge.reproduce.tables.system_means import DISTANCES, NAMES, Floats, Scores
from judge.stats.correlation import heterogeneity
from judge.stats.estimation import paired_differences

BELUGA = FIRST_EVAL_PROMPT[0]
OTHERS = FIRST_EVAL_PROMPT[1:]
SWITCHES = ("signed", "exact-ties", "on-scale", "one-family", "two-sided", "keep-human", "absolute-r23")
PEARSON_NOTE = f"Williams' t: {heterogeneity.PEARSON_NOTE}"
TABLES: Mapping[Level, str] = {level: f"williams_bh_{level}" for level in LEVELS}


@dataclass(frozen=True, slots=True, eq=False)
class Tests:
    """Williams' tests of one table, shape (criteria, judges and measures). Correlations are of people (1), Beluga-13B
    (2) and the other (3). `n` counts stories or systems. `p` is NaN where the recipe does not test; `reason` says why a
    test is undefined."""

    r12: Floats
    r13: Floats
    r23: Floats
    n: NDArray[np.int64]
    statistic: Floats
    p: Floats
    adjusted: Floats
    reason: NDArray[np.object_]


Found = Callable[[Level, Recipe], Tests]


def family(scores: Scores) -> Family:
    """Two tables: over all stories and over system means."""
    tests_of = cache(partial(tests, scores))
    return Family(
        numbers=cache(partial(_numbers, tests_of)),
        digits=dict.fromkeys(TABLES.values(), 0),
        switches=SWITCHES,
        estimates=partial(_estimates, tests_of),
        notes=(PEARSON_NOTE, "p x100, adjusted: as published one-sided, Beluga-13B higher; corrected two-sided"),
        remarks=partial(_remarks, tests_of),
    )


def tests(scores: Scores, level: Level, recipe: Recipe) -> Tests:
    """Correlations, tests and adjusted p values of one table; a test's correlations use the same stories."""
    shape = (len(NAMES), len(OTHERS))
    r12, r13, r23 = np.full((3, *shape), np.nan)
    n = np.zeros(shape, dtype=np.int64)
    for i, short in enumerate(NAMES):
        people, beluga = scores.people(short, recipe), scores.side(BELUGA, short, recipe)
        for j, column in enumerate(OTHERS):
            other = scores.side(column, short, recipe)
            if recipe.signed and column in DISTANCES:
                other = -other
            kept = sides(people, beluga, other, level=level)
            n[i, j] = kept[0].size
            a, b, c = (row[None, :] for row in kept)
            taus = (tau(a, b, "overall", recipe), tau(a, c, "overall", recipe), tau(b, c, "overall", recipe))
            r12[i, j], r13[i, j], r23[i, j] = (np.nan if value is None else value / 100 for value in taus)
    if not recipe.signed:
        r12, r13, r23 = heterogeneity.by_strength(r12, r13, r23)
    if recipe.absolute_r23:
        r23 = np.abs(r23)
    return _tested(r12, r13, r23, n, recipe)


def _tested(r12: Floats, r13: Floats, r23: Floats, n: NDArray[np.int64], recipe: Recipe) -> Tests:
    tail: heterogeneity.Tail = "two-sided" if recipe.two_sided else "greater"
    comparison = heterogeneity.compare_arrays(r12, r13, r23, n, tail=tail)
    p = comparison.p if recipe.one_family else np.where(r12 > r13, comparison.p, np.nan)
    method: paired_differences.Method = "bh" if recipe.one_family else "hanna-published"
    adjusted = paired_differences.adjust(p, method, family="all comparisons of the table").p
    return Tests(r12, r13, r23, n, comparison.statistic, p, adjusted, comparison.reason)


def _places(level: Level) -> dict[Place, tuple[int, int]]:
    return {(TABLES[level], short, column): (i, j) for i, short in enumerate(NAMES) for j, column in enumerate(OTHERS)}


def _numbers(tests_of: Found, recipe: Recipe) -> Numbers:
    numbers: Numbers = {}
    for level in LEVELS:
        adjusted = tests_of(level, recipe).adjusted
        numbers |= {place: heterogeneity.number(100 * adjusted[at]) for place, at in _places(level).items()}
    return numbers


def _estimates(tests_of: Found) -> dict[Place, Estimate]:
    estimates: dict[Place, Estimate] = {}
    for level in LEVELS:
        ours = tests_of(level, OURS)
        for place, at in _places(level).items():
            value = heterogeneity.number(100 * ours.adjusted[at])
            n = int(ours.n[at])
            estimates[place] = Estimate.undefined(str(ours.reason[at]), n=n) if value is None else Estimate(value, n=n)
    return estimates


def _remarks(tests_of: Found, place: Place) -> tuple[str, ...]:
    """Correlations, t, p and n of the corrected test."""
    level = next(level for level, table in TABLES.items() if table == place[0])
    ours, at = tests_of(level, OURS), _places(level)[place]
    rs = f"r12 {100 * ours.r12[at]:.1f}, r13 {100 * ours.r13[at]:.1f}, r23 {100 * ours.r23[at]:.1f}"
    return (f"corrected: {rs}, t {ours.statistic[at]:.2f}, p {ours.p[at]:.2g}, n {ours.n[at]}",)
