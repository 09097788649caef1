"""The balanced complete part of a run: one array with an axis for each facet. Never fills a gap; says what it left out.

Facets, as far as they have two levels or more: system, story-prompt (each system wrote one story for each, so a story
is their combination), Eval-Prompt, judge, and repeat, nested in all others: repeats of different queries have nothing
in common. Where systems do not share story-prompts, stories are nested in systems instead.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.errors import DataError
from judge.rating_matrix import RatingMatrix
from judge.stats.variance_components import Facet

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

SYSTEM, STORY_PROMPT, STORY, EVAL_PROMPT, JUDGE, REPEAT = (
    "system",
    "story-prompt",
    "story",
    "Eval-Prompt",
    "judge",
    "repeat",
)


@dataclass(frozen=True, slots=True, eq=False)
class Balanced:
    """Ratings of one criterion with an axis for each facet, and sentences on what was left out or cannot be told."""

    ratings: Floats
    facets: tuple[Facet, ...]
    notes: tuple[str, ...]

    @property
    def story(self) -> tuple[str, ...]:
        """The facets whose combination is a story."""
        return tuple(facet.name for facet in self.facets if facet.name in (SYSTEM, STORY_PROMPT, STORY))


@dataclass(frozen=True, slots=True, eq=False)
class _Queries:
    """Ratings (all stories, Eval-Prompts, judges, repeats), rated repeats first; `stories` are those asked about."""

    ratings: Floats
    stories: Codes
    prompts: tuple[str, ...]
    judges: tuple[str, ...]
    asked: int
    notes: tuple[str, ...]

    @property
    def rated(self) -> Codes:
        """Rated repeats of each query."""
        return np.asarray((~np.isnan(self.ratings)).sum(axis=3), dtype=np.int64)


def balanced(matrix: RatingMatrix, criterion: str, *, left_out: Collection[tuple[str, str]] = ()) -> Balanced:
    """The balanced part of the ratings of one criterion that keeps most of them.

    Eval-Prompts are those that every judge was asked with; story-prompts (or stories) those with ratings by every judge
    with every Eval-Prompt for every system. All queries keep equally many repeats, the first rated ones: as many as
    keep most ratings, but two or more where two were asked.

    Parameters
    ----------
    matrix : RatingMatrix
    criterion : name of the criterion
    left_out : (run, judge) pairs to leave out, e.g. the control beside other judges

    Raises
    ------
    DataError
        Fewer than two complete story-prompts (or stories); names a combination without a rating.
    """
    queries = _queries(matrix, criterion, left_out)
    place, crossed = _places(matrix, queries.stories)
    worst = queries.rated.min(axis=(1, 2))
    complete = np.where(place >= 0, worst[place], 0)
    least = min(2, queries.ratings.shape[3])
    units = [_units(complete, count, crossed).shape[1] for count in range(least, queries.ratings.shape[3] + 1)]
    repeats = least + max(range(len(units)), key=lambda i: (units[i] * (least + i), i))
    at = np.take_along_axis(place, _units(complete, repeats, crossed), axis=1)
    if at.shape[1] < 2:
        what = "story-prompts" if crossed else "stories of each system"
        raise DataError(
            f"{criterion}: no balanced part of two {what} or more; {_gap(matrix, queries, place, complete, least)}",
            hint="ask what is missing (judge run, judge retry), or leave out a judge or system (--drop-system)",
        )
    names = (SYSTEM, STORY_PROMPT if crossed and at.shape[0] > 1 else STORY, EVAL_PROMPT, JUDGE, REPEAT)
    used = queries.ratings[at][..., :repeats]
    extents = [_counted(size, name) for name, size in zip(names, used.shape, strict=True)]
    if at.shape[1] < place.shape[1]:
        extents[1] = f"{at.shape[1]} of {_counted(place.shape[1], names[1])}"
    extent = f"balanced part: {' x '.join(extents)} = {used.size} of {queries.asked} repeats asked"
    single = [f"{name} ({level})" for name, level in _single(matrix, queries, at, used.shape, names)]
    notes = [extent, *queries.notes]
    if single:
        what = f"{single[0]}: its variance" if len(single) == 1 else f"{', '.join(single)}: their variances"
        notes.append(f"only one {what} cannot be told, and all this holds for {'it' if len(single) == 1 else 'them'}")
    if used.size < queries.asked:
        notes.append(
            "what has gaps is left out: where loss goes with ratings (judge coverage), the rest is no fair sample"
        )
    if repeats == 1:
        notes.append("one repeat: the variance of repeats is part of the last term")
    facets = tuple(name for name, size in zip(names, used.shape, strict=True) if size > 1)
    outer = {REPEAT: tuple(name for name in facets if name != REPEAT), STORY: (SYSTEM,) if SYSTEM in facets else ()}
    return Balanced(
        ratings=used.reshape([size for size in used.shape if size > 1]),
        facets=tuple(Facet(name, outer.get(name, ())) for name in facets),
        notes=tuple(notes),
    )


def _queries(matrix: RatingMatrix, criterion: str, left_out: Collection[tuple[str, str]]) -> _Queries:
    cells = {
        (cell.run, cell.judge, cell.eval_prompt): i
        for i, cell in enumerate(matrix.cells)
        if cell.criterion == criterion and (cell.run, cell.judge) not in left_out
    }
    judges = list(dict.fromkeys((run, judge) for run, judge, _ in cells))
    every = list(dict.fromkeys(prompt for _, _, prompt in cells))
    prompts = [prompt for prompt in every if all((*judge, prompt) in cells for judge in judges)]
    if not prompts:
        raise DataError(
            f"{criterion}: no Eval-Prompt was put to all {len(judges)} judges, so their variances cannot be told apart",
            hint="make the table of one judge at a time, or ask all judges with the same Eval-Prompts",
        )
    wide = [[_compact(matrix, cells[(*judge, prompt)]) for judge in judges] for prompt in prompts]
    repeats = max(part.shape[1] for row in wide for part in row)
    ratings = np.full((matrix.n, len(prompts), len(judges), repeats), np.nan)
    for e, row in enumerate(wide):
        for j, part in enumerate(row):
            ratings[:, e, j, : part.shape[1]] = part
    kept = [cells[(*judge, prompt)] for judge in judges for prompt in prompts]
    several = len({judge for _, judge in judges}) < len(judges)
    notes = []
    if len(prompts) < len(every):
        apart = ", ".join(prompt for prompt in every if prompt not in prompts)
        notes.append(f"Eval-Prompts that not every judge was asked with are left out: {apart}")
    if any(matrix.means[i] for i in kept):
        notes.append(
            "imported ratings may be means of repeats: the variance of single repeats cannot be told from them"
        )
    return _Queries(
        ratings=ratings,
        stories=np.flatnonzero(matrix.asked[kept].any(axis=0)),
        prompts=tuple(prompts),
        judges=tuple(f"{judge} in {run}" if several else judge for run, judge in judges),
        asked=int(matrix.asked[kept].sum()),
        notes=tuple(notes),
    )


def _compact(matrix: RatingMatrix, cell: int) -> Floats:
    """A cell's ratings (all stories, repeats), rated repeats moved to the front of each story."""
    found = matrix.repeats(cell)
    order = np.argsort(np.isnan(found), axis=1, kind="stable")
    out = np.full((matrix.n, found.shape[1]), np.nan)
    out[matrix.asked[cell] > 0] = np.take_along_axis(found, order, axis=1)
    return out


def _places(matrix: RatingMatrix, asked: Codes) -> tuple[Codes, bool]:
    """Story of each system (row) for each story-prompt (column), or, where these are not crossed, its stories.

    -1 = none. Crossed means: no system has two stories for one story-prompt, and two story-prompts are shared by all.
    """
    systems, row = np.unique(matrix.system[asked], return_inverse=True)
    prompts, column = np.unique(matrix.story_prompt[asked], return_inverse=True)
    pairs, stories = np.unique(row * prompts.size + column, return_counts=True)
    shared = np.bincount(pairs % prompts.size, minlength=prompts.size) == systems.size if pairs.size else np.empty(0)
    crossed = bool((stories == 1).all() and shared.sum() >= 2)
    if not crossed:
        order = np.argsort(row, kind="stable")
        column = np.empty(row.size, dtype=np.int64)
        column[order] = np.arange(row.size) - np.searchsorted(row[order], row[order])
    place = np.full((systems.size, int(column.max(initial=-1)) + 1), -1, dtype=np.int64)
    place[row, column] = asked
    return place, crossed


def _units(complete: Codes, repeats: int, crossed: bool) -> Codes:
    """Columns of each system (rows) with enough rated repeats: the same for all systems, or its own first ones."""
    enough = complete >= repeats
    if crossed:
        return np.tile(np.flatnonzero(enough.all(axis=0)), (complete.shape[0], 1))
    most = int(enough.sum(axis=1).min(initial=complete.shape[1])) if complete.size else 0
    return np.argsort(~enough, axis=1, kind="stable")[:, :most]


def _counted(size: int, name: str) -> str:
    plural = "stories" if name == STORY else f"{name}s"
    return f"{size} {name if size == 1 else plural}"


def _single(
    matrix: RatingMatrix, queries: _Queries, at: Codes, shape: Sequence[int], names: Sequence[str]
) -> list[tuple[str, str]]:
    """Facets with one level, and the level's name."""
    system = matrix.systems[int(matrix.system[at[0, 0]])]
    levels = {SYSTEM: system, EVAL_PROMPT: queries.prompts[0], JUDGE: queries.judges[0]}
    return [(name, levels[name]) for name, size in zip(names, shape, strict=True) if size == 1 and name in levels]


def _gap(matrix: RatingMatrix, queries: _Queries, place: Codes, complete: Codes, least: int) -> str:
    """Which combination lacks a rating first."""
    s, u = (int(i) for i in np.argwhere(complete < least)[0])
    if place[s, u] < 0:
        system = matrix.systems[int(matrix.system[place[s][place[s] >= 0][0]])]
        return f"first without a rated story is system {system} (position {u + 1} of its story-prompts or stories)"
    story = int(place[s, u])
    e, j = (int(i) for i in np.argwhere(queries.rated[story] < least)[0])
    number = f"{int(queries.rated[story, e, j])} of {least} repeats"
    name, system = matrix.stories["story"].iloc[story], matrix.systems[int(matrix.system[story])]
    return (
        f"first incomplete is story {name} of system {system}: {number} rated by {queries.judges[j]} "
        f"with Eval-Prompt {queries.prompts[e]}"
    )
