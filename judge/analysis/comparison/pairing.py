"""Pairing of two sides for contrasts, restricted to the stories and repeats requested on both sides.

The sides differ in one factor (Eval-Prompt, judge, structured mode, parser or run) and agree in all others. Where a
value of the factor occurs in several runs, sides are paired within each run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from judge.analysis.options.table_options import Factor
from judge.base.arrays import Floats, Masks, row_means
from judge.base.errors import SpecError, unknown_value
from judge.base.wording import Advice
from judge.ratings.rating_matrix import RatingMatrix

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RatingsTable

NAMES: dict[Factor, tuple[str, str]] = {
    "eval_prompt": ("Eval-Prompt", "Eval-Prompts"),
    "judge": ("judge", "judges"),
    "structured": ("structured mode", "structured modes"),
    "parser": ("parser", "parsers"),
    "run": ("run", "runs"),
}
# What both sides of a contrast have in common; the run too, where a side occurs in several.
_SHARED: dict[Factor, tuple[str, ...]] = {
    "eval_prompt": ("judge", "structured", "parser"),
    "judge": ("eval_prompt", "structured", "parser"),
    "structured": ("judge", "eval_prompt", "parser"),
    "parser": ("judge", "eval_prompt", "structured"),
    "run": ("judge", "eval_prompt"),
}


# What imported measures have in place of an Eval-Prompt: they can stand beside a judge whatever it was asked.
NO_EVAL_PROMPT = "-"


@dataclass(frozen=True, slots=True)
class Contrast:
    """The two values of one factor that are compared in one dataset. `cells` holds (criterion, row of the first side,
    row of the second) in the rating matrix; `shared` the settings that both sides have in common, as (name, value)."""

    first: str
    second: str
    shared: tuple[tuple[str, str], ...]
    cells: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Paired:
    """Ratings of both sides of a contrast on one criterion, one row per story, from the k repeats that both sides have.

    `asked`, `ratings` and `explained` have shape (n stories, k); `means` have shape (n,), over rated repeats. Ratings
    are NaN where the repeat was not requested on both sides, or has no rating. `repeats` are each side's own. Where a
    side was `imported`, a column is one of the imported file, not a repeat."""

    asked: Masks
    ratings: tuple[Floats, Floats]
    explained: tuple[Masks, Masks]
    means: tuple[Floats, Floats]
    repeats: tuple[int, int]
    imported: bool

    @property
    def stories(self) -> Masks:
        """Mask of the stories with a rating on both sides, shape (n stories,)."""
        return np.asarray(~(np.isnan(self.means[0]) | np.isnan(self.means[1])), dtype=np.bool_)

    @property
    def lost(self) -> tuple[int, int]:
        """Numbers of stories requested on both sides without a rating on the first, and on the second."""
        asked = self.asked.any(axis=1)
        return tuple(int((asked & np.isnan(mean)).sum()) for mean in self.means)  # type: ignore[return-value]


def contrasts(
    matrix: RatingMatrix, table: RatingsTable, factor: Factor, baseline: str | None = None
) -> tuple[list[Contrast], list[str]]:
    """Contrasts of a factor in one dataset, and notes on values without a partner. Without `baseline`, all pairs of
    values are compared; otherwise each with the baseline. Raises SpecError for fewer than two values, values that never
    share all other settings, or an unknown baseline."""
    described = [_describe(matrix, i, table) for i in range(len(matrix.cells))]
    levels = _levels(matrix, described, factor, baseline)
    noun, many = NAMES[factor]
    free = {int(cell["cell"]) for cell in described if cell["eval_prompt"] == NO_EVAL_PROMPT}
    compared_pairs = []
    for shared, sides in _groups(described, factor).items():
        for first, second in _pairs([level for level in levels if level in sides], baseline):
            criteria = [name for name in sides[first] if name in sides[second]]
            cells = tuple((name, sides[first][name], sides[second][name]) for name in criteria)
            # Measures have no Eval-Prompt and stand in every group of judges; two of them need be compared only once.
            elsewhere = dict(shared).get("eval_prompt", NO_EVAL_PROMPT) != NO_EVAL_PROMPT
            if cells and not (elsewhere and all(a in free and b in free for _, a, b in cells)):
                compared_pairs.append(Contrast(first, second, shared, cells))
    if not compared_pairs:
        equal = ", ".join(_SHARED[factor]).replace("_", "-")
        raise SpecError(f"no two {many} of {matrix.dataset} can be compared: they never share {equal} and a criterion")
    used = {cell for contrast in compared_pairs for _, *pair in contrast.cells for cell in pair}
    return compared_pairs, _alone(matrix, [cell for cell in described if int(cell["cell"]) not in used], noun)


def _levels(
    matrix: RatingMatrix, described: Sequence[dict[str, str]], factor: Factor, baseline: str | None
) -> list[str]:
    levels = list(dict.fromkeys(cell[factor] for cell in described))
    if len(levels) < 2:
        present = f"only {levels[0]}" if levels else "none"
        many = NAMES[factor][1]
        words = "{by} needs two {} of {}; these results have {}"
        raise SpecError(Advice(words, many, matrix.dataset, present, by=factor))
    if baseline is not None and baseline not in levels:
        raise unknown_value("baseline", baseline, levels)
    return levels


def pair(matrix: RatingMatrix, first: int, second: int) -> Paired:
    """Ratings of the sides `first` and `second` (rows of the rating matrix) in the repeats that both have. If a side
    was imported and the repeats differ, each story has a single rating per side: its mean."""
    left, right = matrix.answers(first), matrix.answers(second)
    imported = matrix.imported[first] or matrix.imported[second]
    sizes = (left.numbers.size, right.numbers.size)
    if imported and not np.array_equal(left.numbers, right.numbers):
        # A file from elsewhere holds one number a story, perhaps a mean of repeats: compared as what it is.
        asked = _any_repeat(left.asked) & _any_repeat(right.asked)
        ratings = [np.where(asked[:, 0], side, np.nan)[:, None] for side in (matrix.judge[first], matrix.judge[second])]
        explained = [_any_repeat(side.explained) & asked for side in (left, right)]
    else:
        _, a, b = np.intersect1d(left.numbers, right.numbers, return_indices=True)
        asked = left.asked[:, a] & right.asked[:, b]
        ratings = [np.where(asked, side, np.nan) for side in (left.ratings[:, a], right.ratings[:, b])]
        explained = [side & asked for side in (left.explained[:, a], right.explained[:, b])]
    means = [row_means(side) for side in ratings]
    return Paired(
        asked, (ratings[0], ratings[1]), (explained[0], explained[1]), (means[0], means[1]), sizes, imported=imported
    )


def _describe(matrix: RatingMatrix, cell: int, table: RatingsTable) -> dict[str, str]:
    named = matrix.cells[cell]
    described = {"structured": "unknown", "parser": "unknown"} | named._asdict() | {"cell": str(cell)}
    of_run = [fact for fact in table.facts if fact.run == named.run]
    # An imported folder may hold several judges under one description.
    fact = next((fact for fact in of_run if fact.judge == named.judge), of_run[0] if of_run else None)
    if fact is None:
        return described
    # A result read by two parsers is one run: its second reading has another name only to be told apart.
    run = next(other.run for other in table.facts if other.path == fact.path)
    parser = fact.parser.partition("/")[0]
    return described | {"structured": fact.structured or "unknown", "parser": parser, "run": run}


# Side -> criterion -> cell.
_Sides = dict[str, dict[str, int]]


def _groups(described: Sequence[dict[str, str]], factor: Factor) -> dict[tuple[tuple[str, str], ...], _Sides]:
    """Sides that can be compared, by shared settings (the run too, where a side has several)."""
    shared = _SHARED[factor]
    groups: dict[tuple[tuple[str, str], ...], list[dict[str, str]]] = {}
    for cell in described:
        groups.setdefault(tuple((name, cell[name]) for name in shared), []).append(cell)
    if factor == "judge":
        free = [cell for cell in described if cell["eval_prompt"] == NO_EVAL_PROMPT]
        for key, cells in groups.items():
            if dict(key)["eval_prompt"] != NO_EVAL_PROMPT:
                cells.extend(free)
    sides_by_shared: dict[tuple[tuple[str, str], ...], _Sides] = {}
    for key, cells in groups.items():
        sides = _sides(cells, factor)
        if sides is not None:
            sides_by_shared[key] = sides
            continue
        if factor in ("run", "structured"):
            _refuse(cells, factor)
        for run in dict.fromkeys(cell["run"] for cell in cells):
            own = [cell for cell in cells if cell["run"] == run]
            sides_by_shared[(("run", run), *key)] = _sides(own, factor) or _refuse(own, factor)
    return sides_by_shared


def _sides(cells: Sequence[dict[str, str]], factor: Factor) -> _Sides | None:
    """Rows of the rating matrix by side and criterion; None where a side has two for one criterion."""
    sides: _Sides = {}
    for cell in cells:
        side = sides.setdefault(cell[factor], {})
        if cell["criterion"] in side:
            return None
        side[cell["criterion"]] = int(cell["cell"])
    return sides


def _refuse(cells: Sequence[dict[str, str]], factor: Factor) -> NoReturn:
    noun = NAMES[factor][0]
    runs = ", ".join(dict.fromkeys(cell["run"] for cell in cells))
    raise SpecError(
        Advice("{by}: several results of one {} answer the same queries (runs {})", noun, runs, by=factor),
        hint=Advice("name the runs to compare, one for each side, or use {by}", by="run"),
    )


def _pairs(levels: Sequence[str], baseline: str | None) -> list[tuple[str, str]]:
    if baseline is None:
        return list(combinations(levels, 2))
    return [(baseline, level) for level in levels if level != baseline] if baseline in levels else []


def _alone(matrix: RatingMatrix, left: Sequence[dict[str, str]], noun: str) -> list[str]:
    named = dict.fromkeys(f"{cell['judge']} {cell['eval_prompt']} of {cell['run']}" for cell in left)
    if not named:
        return []
    return [f"{matrix.dataset}: left out, as no other {noun} was asked the same: {', '.join(named)}"]


def _any_repeat(mask: Masks) -> Masks:
    return np.asarray(mask.any(axis=1), dtype=np.bool_)[:, None]


def check_distinct(table: RatingsTable) -> None:
    """Raise SpecError where two results have the same run and judge: their ratings would be mixed up."""
    seen: dict[tuple[str, str, str], str] = {}
    for fact in table.facts:
        key = (fact.dataset, fact.run, fact.judge)
        if fact.parser != "imported" and key in seen:
            raise SpecError(
                f"{seen[key]} and {fact.path} are both called run {fact.run!r} of judge {fact.judge}: their ratings "
                "cannot be told apart",
                hint="give the runs different names in their run.yaml",
            )
        seen[key] = str(fact.path)
