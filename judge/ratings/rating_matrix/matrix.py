"""Ratings of judges and people as arrays, with means and codes for rank correlations. A *judge cell* is run x judge x
Eval-Prompt x criterion. All arrays share one axis of stories; without a rating, means are NaN and codes -1. A judge's
rating is the mean over repeats with one, the human rating over raters; the numbers of ratings are kept too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.base.records import Scale

# Ratings in long format, sorted by group (a judge cell or a human criterion), and their means.

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
# Codes of any width: ten million ratings fit into memory as int32.
Integers = NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class RatingRows:
    """Ratings sorted by group (a judge cell or human criterion); group g has rows bounds[g]:bounds[g + 1]. `column`
    numbers the repeat or rater, -1 where unknown. `explained`: the answer has an explanation; None for people."""

    story: Integers
    column: Integers
    rating: Floats
    bounds: Codes
    explained: NDArray[np.bool_] | None = None

    def wide(self, group: int, stories: int) -> tuple[Floats, Codes]:
        """(Ratings, column numbers) of a group, one column for each repeat or rater: shape (stories, columns), NaN = no
        rating; several of a story in one column are averaged."""
        rows = slice(int(self.bounds[group]), int(self.bounds[group + 1]))
        columns, column = np.unique(self.column[rows], return_inverse=True)
        cell = self.story[rows].astype(np.int64) * columns.size + column.reshape(-1)
        total, count = sums(cell, self.rating[rows], stories * columns.size)
        return means(total, count).reshape(stories, columns.size), columns.astype(np.int64)

    def present(self, group: int, stories: int, *, explained: bool = False) -> NDArray[np.bool_]:
        """Mask (stories, columns) of rows or, with `explained`, of rows with an explanation; columns as in `wide`."""
        rows = slice(int(self.bounds[group]), int(self.bounds[group + 1]))
        columns, column = np.unique(self.column[rows], return_inverse=True)
        present = np.zeros((stories, columns.size), dtype=np.bool_)
        if not explained:
            present[self.story[rows], column.reshape(-1)] = True
        elif self.explained is not None:
            chosen = self.explained[rows]
            present[self.story[rows][chosen], column.reshape(-1)[chosen]] = True
        return present


def sort_rows(
    group: Integers,
    groups: int,
    story: Integers,
    column: Integers,
    rating: Floats,
    explained: NDArray[np.bool_] | None = None,
) -> RatingRows:
    """Ratings sorted by group, whose order within stays. `group` is 0 to `groups` - 1, and `column` numbers the repeat
    or rater."""
    bounds = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=groups))]).astype(np.int64)
    if group.size == 0 or bool((group[1:] >= group[:-1]).all()):
        return RatingRows(story, column, rating, bounds, explained)
    order = np.argsort(group, kind="stable")
    sorted_explained = None if explained is None else explained[order]
    return RatingRows(story[order], column[order], rating[order], bounds, sorted_explained)


def cell_means(group: Integers, groups: int, story: Integers, rating: Floats, n: int) -> tuple[Floats, Codes]:
    """(Mean rating, number of ratings), both of shape (groups, n stories). A mean without ratings is NaN."""
    total, count = sums(group.astype(np.int64) * n + story, rating, groups * n)
    return means(total, count).reshape(groups, n), count.reshape(groups, n)


def sums(cell: Codes, rating: Floats, size: int) -> tuple[Floats, Codes]:
    """(Sum, number) of ratings at each of `size` positions, which `cell` gives; NaN ratings are left out."""
    rated = ~np.isnan(rating)
    if not rated.all():
        cell, rating = cell[rated], rating[rated]
    total = np.bincount(cell, weights=rating, minlength=size).astype(np.float64)
    return total, np.bincount(cell, minlength=size).astype(np.int64)


def means(total: Floats, count: Codes) -> Floats:
    """Sums divided by counts; NaN where the count is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(count > 0, total / count, np.nan), dtype=np.float64)


class Cell(NamedTuple):
    """A judge cell: what one series of ratings belongs to."""

    run: str
    judge: str
    eval_prompt: str
    criterion: str


@dataclass(frozen=True, slots=True, eq=False)
class Raters:
    """Human ratings of one criterion, (stories, columns): a column for each rater or, unless `known`, each stored
    position. `reason` says why raters are not known, so that only one-way statistics (such as the one-way ICC) are
    possible. `ascending`: a story's ratings are sorted, so a position is not a person."""

    ratings: Floats
    names: tuple[str, ...]
    known: bool
    reason: str | None = None
    ascending: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """The repeats of one judge cell, shape (stories, repeats); `numbers` are the repeats'. `asked`: it was requested.
    `ratings`: NaN without a request or rating. `explained`: the answer has an explanation."""

    numbers: Codes
    asked: NDArray[np.bool_]
    ratings: Floats
    explained: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class RatingMatrix:
    """All ratings of one dataset, by judges and by people. Arrays over its n stories share one order.

    `stories` has `story, story_prompt, system, words, text` and the features of an import, a row per story.
    `system` (into `systems`) and `story_prompt` are codes, shape (n,); a story without a story-prompt has one of its
    own.
    `judge`, `valid`, `asked`, shape (judge cells, n): mean over repeats with a rating, their number, repeats requested.
    `missing`, `imported`, `means`, one entry per judge cell: status -> repeats without a rating; whether ratings come
    from another program's table; whether they are means of repeats that are not available. Only imported ones can be,
    as the import declares; if it did not, those that are not all points of the scale (whole numbers if it is not
    known).
    `people`, `raters`, shape (criteria, n): mean over raters, number of ratings.
    `judge_codes`, `people_codes`: codes of `judge` and `people` for tau-b (`stats.correlation.kendall.codes`).
    `labels`: criterion in lower case -> scale, where ratings are codes of labels.
    `declared`: (run, judge's criterion in lower case) -> human criterion with which the run compares it."""

    dataset: str
    stories: pd.DataFrame
    systems: tuple[str, ...]
    system: Codes
    story_prompt: Codes
    cells: tuple[Cell, ...]
    judge: Floats
    valid: Codes
    asked: Codes
    missing: tuple[Mapping[str, int], ...]
    imported: tuple[bool, ...]
    means: tuple[bool, ...]
    criteria: tuple[str, ...]
    people: Floats
    raters: Codes
    judge_codes: Codes
    people_codes: Codes
    rater_names: tuple[str, ...]
    _judge_rows: RatingRows
    _people_rows: RatingRows
    labels: Mapping[str, Scale] = field(default_factory=dict)
    declared: Mapping[tuple[str, str], str] = field(default_factory=dict)
    _by_rater: dict[int, Raters] = field(default_factory=dict)

    @property
    def features(self) -> pd.DataFrame:
        """Numeric features of the stories from an import, one row per story."""
        return self.stories.drop(columns=["story", "story_prompt", "system", "words", "text"])

    @property
    def n(self) -> int:
        """Number of stories in the dataset."""
        return len(self.stories)

    def repeats(self, cell: int) -> Floats:
        """Ratings of one judge cell, shape (stories with a requested repeat, repeats); NaN = no rating."""
        wide, _ = self._judge_rows.wide(cell, self.n)
        asked = self.asked[cell] > 0
        return np.asarray(wide[asked], dtype=np.float64)

    def answers(self, cell: int) -> Answers:
        """The repeats of one judge cell: which were requested, rated and explained."""
        ratings, numbers = self._judge_rows.wide(cell, self.n)
        asked = self._judge_rows.present(cell, self.n)
        return Answers(numbers, asked, ratings, self._judge_rows.present(cell, self.n, explained=True))

    def by_rater(self, criterion: int) -> Raters:
        """A criterion's human ratings, one column for each rater or, if unknown, position; computed once."""
        if criterion not in self._by_rater:
            self._by_rater[criterion] = self._raters(criterion)
        return self._by_rater[criterion]

    def _raters(self, criterion: int) -> Raters:
        wide, column = self._people_rows.wide(criterion, self.n)
        wide.setflags(write=False)
        if column.size and column[0] >= 0:
            return Raters(wide, tuple(self.rater_names[c] for c in column), known=True)
        positions = self.by_position(criterion)
        reason = "who gave which rating is not known"
        ascending = _all_sorted(positions)
        if ascending:
            reason += " (each story's ratings are stored in ascending order)"
        return Raters(positions, (), known=False, reason=reason, ascending=ascending)

    def by_position(self, criterion: int) -> Floats:
        """A criterion's human ratings, (stories, most ratings of one), in stored order, so a column is not a rater; NaN
        = no further rating."""
        rows = slice(int(self._people_rows.bounds[criterion]), int(self._people_rows.bounds[criterion + 1]))
        story, rating = self._people_rows.story[rows], self._people_rows.rating[rows]
        order = np.argsort(story, kind="stable")
        story, rating = story[order], rating[order]
        first = np.searchsorted(story, np.arange(self.n))
        position = np.arange(story.size) - first[story]
        out = np.full((self.n, int(position.max()) + 1 if position.size else 0), np.nan)
        out[story, position] = rating
        return out


def _all_sorted(ratings: Floats) -> bool:
    # At least 20 stories whose ratings differ, so that this is no coincidence.
    steps = np.diff(ratings, axis=1) if ratings.shape[1] > 1 else np.empty((0, 0))
    if steps.size == 0 or bool((steps < 0).any()):
        return False
    return int((steps > 0).any(axis=1).sum()) >= 20
