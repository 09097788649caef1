"""HANNA's tables of correlations, and of Williams' tests between them. Kendall's tau-b x100 as the study computed it:
by scipy, on unrounded floats, over ten systems without Human."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from judge.base.arrays import Floats, number
from judge.base.estimate import Estimate
from judge.reproduce.cell import OURS, Numbers, Place, Recipe
from judge.reproduce.hanna_system_means import DISTANCES, JUDGED, JUDGES, MEASURES, NAMES, Scores
from judge.reproduce.study import AVERAGE, Family
from judge.stats.correlation import heterogeneity as dependent
from judge.stats.correlation.kendall import DECIMALS
from judge.stats.estimation import paired_differences
from judge.stats.resampling import bootstrap, resampled_correlations

Level = Literal["overall", "system"]
LEVELS: tuple[Level, ...] = ("overall", "system")
# Two arrays (systems, story-prompts) that are correlated.
Pair = tuple[Floats, Floats]

_T = TypeVar("_T")

PEOPLE = "Human"
COLUMNS = (*JUDGED, *MEASURES, PEOPLE)
FIRST_EVAL_PROMPT = (*(f"{judge} 1" for judge in JUDGES), *MEASURES)
SWITCHES = ("signed", "exact-ties", "on-scale", "unrounded", "leave-one-out", "keep-human")


def table_names(level: Level) -> tuple[str, ...]:
    """A level's tables: judges and measures under Eval-Prompt 1, Eval-Prompts, one more person, pairs of criteria."""
    return (
        f"correlations_{level}_EP1",
        f"eval_prompt_{level}",
        f"human_leave_one_out_{level}",
        f"human_inter_criterion_{level}",
    )


def numbers(scores: Scores, level: Level, recipe: Recipe) -> Numbers:
    """Correlations x100 of one level, absolute unless the recipe keeps the sign."""

    def value(column: str, short: str) -> float | None:
        rating_pairs = pairs(scores, column, short, recipe)
        return mean([_unsigned(tau(*pair, level, recipe), recipe) for pair in rating_pairs], recipe)

    return layout(level, value, lambda cells: mean(cells, recipe))


def layout(level: Level, value: Callable[[str, str], _T], average: Callable[[Sequence[_T]], _T]) -> dict[Place, _T]:
    """Cells of one level from `value` (column, criterion's abbreviation) and `average` of a column for row Avg."""
    by_pair = {(column, short): value(column, short) for column in COLUMNS for short in NAMES}
    first_eval_prompt, eval_prompts, leave_one_out, inter_criterion = table_names(level)
    by_place: dict[Place, _T] = {}
    for table, listed in ((first_eval_prompt, (PEOPLE, *FIRST_EVAL_PROMPT)), (eval_prompts, JUDGED)):
        for column in listed:
            cells = {(table, short, column): by_pair[column, short] for short in NAMES}
            by_place |= cells | {(table, AVERAGE, column): average(list(cells.values()))}
    by_place |= {(leave_one_out, short, PEOPLE): by_pair[PEOPLE, short] for short in NAMES}
    return by_place | {
        (inter_criterion, second, first): value(second, first) for first, second in combinations(NAMES, 2)
    }


def pairs(scores: Scores, column: str, short: str, recipe: Recipe) -> list[Pair]:
    """Pairs of arrays whose correlation a cell gives, for the criterion `short`. A judge or measure is paired with mean
    human ratings; another criterion gives the two criteria's means. For people there is a pair for each rater position
    in the file: its ratings, and the mean of all (as published) or of the others."""
    people = scores.people(short, recipe)
    if column in NAMES:
        return [(scores.people(column, recipe), people)]
    if column != PEOPLE:
        return [(scores.side(column, short, recipe), people)]
    positions = scores.positions(short, recipe)
    if not recipe.leave_one_out:
        return [(position, people) for position in positions]
    return [(position, np.delete(positions, i, axis=0).mean(axis=0)) for i, position in enumerate(positions)]


def tau(x: Floats, y: Floats, level: Level, recipe: Recipe) -> float | None:
    """100 x tau-b over stories that have both values, shape (systems, story-prompts); None where undefined. At the
    level "system" it is that of system means over these stories."""
    a, b = sides(x, y, level=level)
    if recipe.exact_ties:
        a, b = np.round(a, DECIMALS), np.round(b, DECIMALS)
    value = float(stats.kendalltau(a, b).statistic)
    return None if np.isnan(value) else 100 * value


def sides(*arrays: Floats, level: Level) -> list[Floats]:
    """Each array's values on the stories with a value in every array, one-dimensional. At the level "system", each
    system's mean over them; systems without such a story are left out."""
    rated = np.all(~np.isnan(np.stack(arrays)), axis=0)
    if level == "overall":
        return [array[rated] for array in arrays]
    rows = [row for row in range(rated.shape[0]) if rated[row].any()]
    return [np.array([array[row][rated[row]].mean() for row in rows]) for array in arrays]


def mean(values: Sequence[float | None], recipe: Recipe) -> float | None:
    """Mean of cells, rounded as printed unless `unrounded`; None if one is undefined. A single one is unchanged."""
    defined = [value for value in values if value is not None]
    if len(defined) < len(values):
        return None
    if len(defined) == 1:
        return defined[0]
    return float(np.mean(defined if recipe.unrounded else [round(value) for value in defined]))


def remarks(place: Place) -> tuple[str, ...]:
    """Remarks printed next to a cell's numbers."""
    _, _, column = place
    if column in DISTANCES:
        return ("a distance: less is better",)
    if column == PEOPLE:
        return ("positions are not persons: who gave which rating is not in the file",)
    return ()


def counted_at(place: Place) -> Place:
    """Cell where a number is counted: tables of Eval-Prompts and of the ceiling repeat that of Eval-Prompt 1."""
    table, row, column = place
    for level in LEVELS:
        first_eval_prompt, eval_prompts, leave_one_out, _ = table_names(level)
        if table == leave_one_out or (table == eval_prompts and column in FIRST_EVAL_PROMPT):
            return first_eval_prompt, row, column
    return place


def _unsigned(value: float | None, recipe: Recipe) -> float | None:
    return value if value is None or recipe.signed else abs(value)


# Corrected correlations with intervals over story-prompts, all from the same resamples.

METHOD = "95 % over resampled story-prompts"


def estimates(scores: Scores, level: Level, resamples: int, seed: int) -> dict[Place, Estimate]:
    """Corrected correlations x100, with percentile intervals over story-prompts unless `resamples` is 0."""

    def count(column: str, short: str) -> int:
        return min(sides(*pair, level=level)[0].size for pair in pairs(scores, column, short, OURS))

    def fewest(cells: Sequence[int]) -> int:
        return min(cells)

    counts = layout(level, count, fewest)
    estimates_by_place: dict[Place, Estimate] = {}
    for place, value in numbers(scores, level, OURS).items():
        undefined = Estimate.undefined("undefined for a criterion", n=counts[place])
        estimates_by_place[place] = undefined if value is None else Estimate(value, n=counts[place])
    if not resamples:
        return estimates_by_place
    systems, prompts = scores.people("RE", OURS).shape
    unit = np.tile(np.arange(prompts), systems)
    drawn = bootstrap.draw(unit, resamples, np.random.default_rng(seed), "boot-inputs")
    many: dict[tuple[str, str], Floats] = {}
    for short in NAMES:
        columns = (*JUDGED, *MEASURES)
        rows = np.stack([scores.side(column, short, OURS) for column in columns])
        taus = resampled_tau(rows, scores.people(short, OURS), level, drawn)
        many |= {(column, short): row for column, row in zip(columns, taus, strict=True)}

    def resampled(column: str, short: str) -> Floats:
        if (column, short) in many:
            return many[column, short]
        return _mean([resampled_tau(x[None], y, level, drawn)[0] for x, y in pairs(scores, column, short, OURS)])

    values = layout(level, resampled, _mean)
    return {
        place: bootstrap.percentile(estimate, values[place], METHOD) for place, estimate in estimates_by_place.items()
    }


def resampled_tau(rows: Floats, people: Floats, level: Level, drawn: bootstrap.Resamples) -> Floats:
    """100 x tau-b with people in each resample, shape (judges, resamples); `rows` is (judges, systems,
    story-prompts)."""
    system = np.repeat(np.arange(people.shape[0]), people.shape[1])
    flat, y = rows.reshape(rows.shape[0], -1), people.reshape(-1)
    if level == "overall":
        return 100 * resampled_correlations.values(drawn, flat, y)
    return 100 * resampled_correlations.values(drawn, flat, y, grouping="means", group=system)


def _mean(values: Sequence[Floats]) -> Floats:
    return np.asarray(np.mean(values, axis=0), dtype=np.float64)


# HANNA's tables of Williams' tests: Beluga-13B under Eval-Prompt 1 against each other judge or measure. Cells are
# adjusted p values x100. The study tests one-sided, and only where Beluga-13B is higher; its other cells are blank.
# The corrected recipe tests two-sided, and adjusts over all comparisons of a table.

BELUGA = FIRST_EVAL_PROMPT[0]
OTHERS = FIRST_EVAL_PROMPT[1:]
WILLIAMS_SWITCHES = ("signed", "exact-ties", "on-scale", "one-family", "two-sided", "keep-human", "absolute-r23")
PEARSON_NOTE = f"Williams' t: {dependent.PEARSON_NOTE}"
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


def williams_family(scores: Scores) -> Family:
    """Two tables: over all stories and over system means."""
    tests_of = cache(partial(tests, scores))
    return Family.by_recipe(
        partial(_adjusted, tests_of),
        dict.fromkeys(TABLES.values(), 0),
        switches=WILLIAMS_SWITCHES,
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
        r12, r13, r23 = dependent.by_strength(r12, r13, r23)
    if recipe.absolute_r23:
        r23 = np.abs(r23)
    return _tested(r12, r13, r23, n, recipe)


def _tested(r12: Floats, r13: Floats, r23: Floats, n: NDArray[np.int64], recipe: Recipe) -> Tests:
    tail: dependent.Tail = "two-sided" if recipe.two_sided else "greater"
    comparison = dependent.compare_arrays(r12, r13, r23, n, tail=tail)
    p = comparison.p if recipe.one_family else np.where(r12 > r13, comparison.p, np.nan)
    method: paired_differences.Method = "bh" if recipe.one_family else "hanna-published"
    adjusted = paired_differences.adjust(p, method, family="all comparisons of the table").p
    return Tests(r12, r13, r23, n, comparison.statistic, p, adjusted, comparison.reason)


def _places(level: Level) -> dict[Place, tuple[int, int]]:
    return {(TABLES[level], short, column): (i, j) for i, short in enumerate(NAMES) for j, column in enumerate(OTHERS)}


def _adjusted(tests_of: Found, recipe: Recipe) -> dict[Place, Estimate]:
    cells: dict[Place, Estimate] = {}
    for level in LEVELS:
        table = tests_of(level, recipe)
        for place, at in _places(level).items():
            value, n = number(100 * table.adjusted[at]), int(table.n[at])
            cells[place] = Estimate.undefined(str(table.reason[at]), n=n) if value is None else Estimate(value, n=n)
    return cells


def _remarks(tests_of: Found, place: Place) -> tuple[str, ...]:
    """Correlations, t, p and n of the corrected test."""
    level = next(level for level, table in TABLES.items() if table == place[0])
    ours, at = tests_of(level, OURS), _places(level)[place]
    rs = f"r12 {100 * ours.r12[at]:.1f}, r13 {100 * ours.r13[at]:.1f}, r23 {100 * ours.r23[at]:.1f}"
    return (f"corrected: {rs}, t {ours.statistic[at]:.2f}, p {ours.p[at]:.2g}, n {ours.n[at]}",)
