"""HANNA's correlation tables: overall and over system means, for Eval-Prompts, measures and people.

Kendall's tau-b as the study computed it, x100: scipy's, on floats as they stand, ten systems without Human.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Literal, TypeVar

import numpy as np
from scipy import stats

from judge.reproduce.cell import Numbers, Place
from judge.reproduce.recipe import Recipe
from judge.reproduce.tables.family import AVERAGE
from judge.reproduce.tables.scores import DISTANCES, JUDGED, JUDGES, MEASURES, NAMES, Floats, Scores
from judge.stats.correlation.kendall import DECIMALS

Level = Literal["overall", "system"]
LEVELS: tuple[Level, ...] = ("overall", "system")
Pair = tuple[Floats, Floats]
"""Two arrays (systems, story-prompts) that are correlated."""

_T = TypeVar("_T")

PEOPLE = "Human"
COLUMNS = (*JUDGED, *MEASURES, PEOPLE)
FIRST_EVAL_PROMPT = (*(f"{judge} 1" for judge in JUDGES), *MEASURES)
SWITCHES = ("signed", "exact-ties", "on-scale", "unrounded", "leave-one-out", "keep-human")


def table_names(level: Level) -> tuple[str, ...]:
    """Names of one level's tables."""
    return (
        f"correlations_{level}_EP1",
        f"eval_prompt_{level}",
        f"human_leave_one_out_{level}",
        f"human_inter_criterion_{level}",
    )


def numbers(scores: Scores, level: Level, recipe: Recipe) -> Numbers:
    """Correlations in one level's tables, x100, as absolute values unless the recipe keeps the sign."""

    def value(column: str, short: str) -> float | None:
        rating_pairs = pairs(scores, column, short, recipe)
        return mean([_unsigned(tau(*pair, level, recipe), recipe) for pair in rating_pairs], recipe)

    return layout(level, value, lambda cells: mean(cells, recipe))


def layout(level: Level, value: Callable[[str, str], _T], average: Callable[[Sequence[_T]], _T]) -> dict[Place, _T]:
    """One level's tables: `value` of each column and criterion, and in row Avg the `average` of the column's cells."""
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
    """Pairs of arrays that a cell correlates: people's ratings with a judge, a measure or another criterion of
    people's; or each position.

    A position stands against all of them as published, or against the others.
    """
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
    """100 x tau-b without NaN pairs; at system level, of means over the same stories on both sides. None where
    undefined.
    """
    a, b = sides(x, y, level=level)
    if recipe.exact_ties:
        a, b = np.round(a, DECIMALS), np.round(b, DECIMALS)
    value = float(stats.kendalltau(a, b).statistic)
    return None if np.isnan(value) else 100 * value


def sides(*arrays: Floats, level: Level) -> list[Floats]:
    """The arrays restricted to stories where none of them is NaN; at system level, their means over those stories."""
    rated = np.all(~np.isnan(np.stack(arrays)), axis=0)
    if level == "overall":
        return [array[rated] for array in arrays]
    rows = [row for row in range(rated.shape[0]) if rated[row].any()]
    return [np.array([array[row][rated[row]].mean() for row in rows]) for array in arrays]


def mean(values: Sequence[float | None], recipe: Recipe) -> float | None:
    """The mean of cells as they are printed, or unrounded; None where one of them does not exist."""
    defined = [value for value in values if value is not None]
    if len(defined) < len(values):
        return None
    if len(defined) == 1:
        return defined[0]
    return float(np.mean(defined if recipe.unrounded else [round(value) for value in defined]))


def remarks(place: Place) -> tuple[str, ...]:
    """Remarks on a cell beside its numbers."""
    _, _, column = place
    if column in DISTANCES:
        return ("a distance: less is better",)
    if column == PEOPLE:
        return ("positions are not persons: who gave which rating is not in the file",)
    return ()


def counted_at(place: Place) -> Place:
    """The place where a cell is counted: the table of four Eval-Prompts and the ceiling repeat cells of the table of
    Eval-Prompt 1.
    """
    table, row, column = place
    for level in LEVELS:
        first_eval_prompt, eval_prompts, leave_one_out, _ = table_names(level)
        if table == leave_one_out or (table == eval_prompts and column in FIRST_EVAL_PROMPT):
            return first_eval_prompt, row, column
    return place


def _unsigned(value: float | None, recipe: Recipe) -> float | None:
    return value if value is None or recipe.signed else abs(value)
