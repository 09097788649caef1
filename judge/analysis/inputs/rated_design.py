"""All ratings of one criterion as an array with one axis for each facet; missing ratings are NaN.

Facets with two levels or more are used: system, story-prompt (if each system wrote one story for each story-prompt, the
two identify the story), Eval-Prompt, judge, and repeat. Repeats are nested in all other facets, because repeats of
different queries have nothing in common. Where systems do not share story-prompts, stories are nested in systems."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from judge.base.arrays import Codes, Floats, Masks
from judge.base.errors import DataError
from judge.base.wording import Advice
from judge.ratings.rating_matrix import RatingMatrix
from judge.stats.agreement.variance_components import Facet
from judge.stats.bias.scale_use import remark

SYSTEM, STORY_PROMPT, STORY, EVAL_PROMPT, JUDGE, REPEAT = (
    "system",
    "story-prompt",
    "story",
    "Eval-Prompt",
    "judge",
    "repeat",
)

HENDERSON = "Henderson's Method I"

# Share of queries without any rating above which intervals are said to be too narrow.
MANY_EMPTY = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class RatedDesign:
    """Ratings of one criterion with one axis per facet (a source of variation), NaN = no rating, and notes on what
    cannot be estimated. `asked` counts the repeats that were requested, `used` those with a rating."""

    ratings: Floats
    facets: tuple[Facet, ...]
    used: int
    asked: int
    notes: tuple[str, ...]

    @property
    def story(self) -> tuple[str, ...]:
        """Names of the facets that together identify a story, e.g. system and story-prompt."""
        return tuple(facet.name for facet in self.facets if facet.name in (SYSTEM, STORY_PROMPT, STORY))

    @property
    def complete(self) -> bool:
        """Whether every combination of facets has a rating."""
        return not bool(np.isnan(self.ratings).any())


@dataclass(frozen=True, slots=True, eq=False)
class _Queries:
    """Ratings, shape (all stories, Eval-Prompts, judges, repeats), rated repeats first; `stories` were asked."""

    ratings: Floats
    stories: Codes
    prompts: tuple[str, ...]
    judges: tuple[str, ...]
    asked: int
    notes: tuple[str, ...]


def rated_design(matrix: RatingMatrix, criterion: str, *, left_out: Collection[tuple[str, str]] = ()) -> RatedDesign:
    """Ratings of one criterion by every judge, with the Eval-Prompts that all judges have in common. `left_out` are
    (run, judge) pairs, e.g. a control judge. Raises DataError for fewer than two story-prompts (or stories) with a
    rating, or no common Eval-Prompt."""
    queries = _queries(matrix, criterion, left_out)
    places, crossed = _places(matrix, queries.stories)
    every = np.where((places >= 0)[..., None, None, None], queries.ratings[places], np.nan)
    kept = [np.flatnonzero(_any(every, axis)) for axis in range(every.ndim)]
    if kept[1].size < 2:
        units = "story-prompts" if crossed else "stories"
        raise DataError(
            f"{criterion}: no two {units} have a rating; {queries.asked} repeats were asked",
            hint=Advice(
                "see judge coverage for what was lost; request what is missing (judge run, judge run {retry})",
                retry=True,
            ),
        )
    ratings = every[np.ix_(*kept)]
    names = (SYSTEM, STORY_PROMPT if crossed and ratings.shape[0] > 1 else STORY, EVAL_PROMPT, JUDGE, REPEAT)
    stories = places[kept[0][0]]
    system = matrix.systems[int(matrix.system[stories[stories >= 0][0]])]
    levels = {SYSTEM: system, EVAL_PROMPT: queries.prompts[kept[2][0]], JUDGE: queries.judges[kept[3][0]]}
    single = [
        f"{name} ({levels[name]})" for name, at in zip(names, kept, strict=True) if name in levels and at.size == 1
    ]
    facets = tuple(name for name, at in zip(names, kept, strict=True) if at.size > 1)
    outer = {REPEAT: tuple(name for name in facets if name != REPEAT), STORY: (SYSTEM,) if SYSTEM in facets else ()}
    used = int((~np.isnan(ratings)).sum())
    return RatedDesign(
        ratings=ratings.reshape([at.size for at in kept if at.size > 1]),
        facets=tuple(Facet(name, outer.get(name, ())) for name in facets),
        used=used,
        asked=queries.asked,
        notes=(
            f"design: {' x '.join(_extents(every.shape, ratings, names))}",
            *_used(used, queries.asked, ratings),
            *queries.notes,
            *_not_estimated(single, ratings.shape[-1]),
            *_turned(ratings, [queries.prompts[i] for i in kept[2]], [queries.judges[i] for i in kept[3]]),
        ),
    )


def _turned(ratings: Floats, prompts: Sequence[str], judges: Sequence[str]) -> Iterator[str]:
    """Judges or Eval-Prompts against the others: a frequent cause of negative variance estimates."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # combinations without a rating have no mean
        by_prompt, by_judge = np.nanmean(ratings, axis=(3, 4)), np.nanmean(ratings, axis=(2, 4))
    for means, names, others in ((by_prompt, prompts, "Eval-Prompts"), (by_judge, judges, "judges")):
        if text := remark(means.reshape(-1, len(names)), names, others):
            yield text


def _any(ratings: Floats, axis: int) -> Masks:
    others = tuple(i for i in range(ratings.ndim) if i != axis)
    return np.asarray((~np.isnan(ratings)).any(axis=others))


def _extents(shape: Sequence[int], ratings: Floats, names: Sequence[str]) -> list[str]:
    """Number of levels of each facet in words; "x of y" where some requested levels have no rating."""
    out = [
        _counted(size, name) if size == asked or name == REPEAT else f"{size} of {_counted(asked, name)}"
        for name, asked, size in zip(names, shape, ratings.shape, strict=True)
    ]
    if names[1] == STORY:
        each = (~np.isnan(ratings)).any(axis=(2, 3, 4)).sum(axis=1)
        if each.min() < each.max():
            out[1] = f"{each.min()} to {_counted(int(each.max()), STORY)}"
    return out


def _used(used: int, asked: int, ratings: Floats) -> list[str]:
    gaps = bool(np.isnan(ratings).any())
    count = (
        f"all {asked} answers requested"
        if used == asked
        else f"{used} of {asked} answers requested, all that have a rating"
    )
    out = [f"used: {count}, by {HENDERSON if gaps else 'analysis of variance'}"]
    if gaps:
        out.append(
            f"{HENDERSON}: analysis of variance of a design with gaps, on the means of each query's repeats; intervals "
            "are approximate"
        )
    if used < asked:
        out.append("estimates are unbiased where loss is independent of ratings (judge coverage tests that)")
    empty = float(np.isnan(ratings).all(axis=-1).mean())
    if empty > MANY_EMPTY:
        out.append(f"{100 * empty:.0f} % of the combinations have no rating at all: intervals may be too narrow")
    return out


def _not_estimated(single: Sequence[str], repeats: int) -> list[str]:
    out = []
    if single:
        subject = f"{single[0]}: its variance" if len(single) == 1 else f"{', '.join(single)}: their variances"
        out.append(
            f"only one {subject} cannot be estimated, and all numbers hold for {'it' if len(single) == 1 else 'them'} "
            "alone"
        )
    if repeats == 1:
        out.append("one rating of each query at most: the variance of repeats is part of the last term")
    return out


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
            f"{criterion}: no Eval-Prompt was put to all {len(judges)} judges, so their variances cannot be separated",
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
            "imported ratings may be means of repeats: the variance of single repeats cannot be estimated from them"
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
    """Ratings of one cell, shape (all stories, repeats), rated repeats first."""
    ratings = matrix.wide(cell)
    return np.take_along_axis(ratings, np.argsort(np.isnan(ratings), axis=1, kind="stable"), axis=1)


def _places(matrix: RatingMatrix, asked: Codes) -> tuple[Codes, bool]:
    """Story index by system and story-prompt (-1 = none), and whether these are crossed."""
    systems, row = np.unique(matrix.system[asked], return_inverse=True)
    prompts, column = np.unique(matrix.story_prompt[asked], return_inverse=True)
    pairs, stories = np.unique(row * prompts.size + column, return_counts=True)
    shared = np.bincount(pairs % prompts.size, minlength=prompts.size) == systems.size if pairs.size else np.empty(0)
    # Crossed: one story per system and story-prompt, and at least two story-prompts that all systems share.
    crossed = bool((stories == 1).all() and shared.sum() >= 2)
    if not crossed:
        order = np.argsort(row, kind="stable")
        column = np.empty(row.size, dtype=np.int64)
        column[order] = np.arange(row.size) - np.searchsorted(row[order], row[order])
    places = np.full((systems.size, int(column.max(initial=-1)) + 1), -1, dtype=np.int64)
    places[row, column] = asked
    return places, crossed


def _counted(size: int, name: str) -> str:
    plural = "stories" if name == STORY else f"{name}s"
    return f"{size} {name if size == 1 else plural}"
