"""Rating matrix: ratings of judges and people as arrays, with precomputed means and codes for rank correlations.

A *judge cell* is run x judge x Eval-Prompt x criterion. All arrays of a matrix share one axis of stories; for a story
without a rating, means are NaN and codes are -1. A judge's rating of a story is the mean over its repeats with a
rating. The human rating is the mean over raters. The numbers of averaged ratings are kept too.
"""

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
    """Ratings in long format, sorted by group (a judge cell or a human criterion). The rows of group g are
    bounds[g]:bounds[g + 1]. `column` is the number of the repeat or of the rater, -1 where unknown.

    `explained` says for each row whether the answer has an explanation; None for human ratings.
    """

    story: Integers
    column: Integers
    rating: Floats
    bounds: Codes
    explained: NDArray[np.bool_] | None = None

    def wide(self, group: int, stories: int) -> tuple[Floats, Codes]:
        """(Ratings, column numbers) of a group (a judge cell or a human criterion). Ratings have shape (stories,
        columns), with NaN = no rating; several ratings of a story in one column are averaged. Each column is one repeat
        or one rater, and its column number is the number of this repeat or rater.
        """
        rows = slice(int(self.bounds[group]), int(self.bounds[group + 1]))
        columns, column = np.unique(self.column[rows], return_inverse=True)
        cell = self.story[rows].astype(np.int64) * columns.size + column.reshape(-1)
        total, count = sums(cell, self.rating[rows], stories * columns.size)
        return means(total, count).reshape(stories, columns.size), columns.astype(np.int64)

    def present(self, group: int, stories: int, *, explained: bool = False) -> NDArray[np.bool_]:
        """Mask of shape (stories, columns): where a group (a judge cell or a human criterion) has a row or, with
        `explained`, a row with an explanation. A column is one repeat or rater, as in `wide`.
        """
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
    """Ratings in long format, sorted by group (a judge cell or a human criterion). The order within a group is kept.

    All arrays have one entry per rating. `group` is the number of its group, 0 to `groups` - 1, and `column` the number
    of its repeat or rater.
    """
    bounds = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=groups))]).astype(np.int64)
    if group.size == 0 or bool((group[1:] >= group[:-1]).all()):
        return RatingRows(story, column, rating, bounds, explained)
    order = np.argsort(group, kind="stable")
    sorted_explained = None if explained is None else explained[order]
    return RatingRows(story[order], column[order], rating[order], bounds, sorted_explained)


def cell_means(group: Integers, groups: int, story: Integers, rating: Floats, n: int) -> tuple[Floats, Codes]:
    """(Mean rating, number of ratings) for each group and story, both with shape (groups, n stories). A group is a
    judge cell or a human criterion. A mean without ratings is NaN.
    """
    total, count = sums(group.astype(np.int64) * n + story, rating, groups * n)
    return means(total, count).reshape(groups, n), count.reshape(groups, n)


def sums(cell: Codes, rating: Floats, size: int) -> tuple[Floats, Codes]:
    """(Sum of ratings, number of ratings) for each of `size` positions; `cell` gives the position of each rating.
    Ratings that are NaN are left out.
    """
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
    """A judge cell: the run, judge, Eval-Prompt and criterion to which one series of ratings belongs."""

    run: str
    judge: str
    eval_prompt: str
    criterion: str


@dataclass(frozen=True, slots=True, eq=False)
class Raters:
    """Human ratings of one criterion. `ratings` has shape (stories, columns), with one column for each rater or, if
    `known` is false, for each position in the stored order of a story's ratings.

    `reason` says why the raters are not known; only one-way statistics (such as the one-way ICC) are then possible.
    `ascending` says that each story's ratings are stored in ascending order, so that a position does not stand for one
    person.
    """

    ratings: Floats
    names: tuple[str, ...]
    known: bool
    reason: str | None = None
    ascending: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """The repeats of one judge cell (run x judge x Eval-Prompt x criterion) for all stories of the dataset. Arrays have
    shape (stories, repeats); `numbers` has shape (repeats,) and holds the numbers of the repeats.

    `asked`: the repeat was requested. `ratings`: NaN where the repeat was not requested or gave no rating. `explained`:
    the answer has an explanation.
    """

    numbers: Codes
    asked: NDArray[np.bool_]
    ratings: Floats
    explained: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class RatingMatrix:
    """All ratings of one dataset, by judges and by people. Arrays over the dataset's n stories share one order of
    stories.

    Attributes
    ----------
    dataset : str
        Name of the dataset.
    stories : DataFrame, one row per story
        `story, story_prompt, system, words, text` and the features that came with an import, in the order of
        the arrays.
    systems : tuple of str
        Names of the systems that wrote the stories.
    system, story_prompt : array of int, shape (n,)
        Code of each story's system in `systems`, and of its story-prompt. A story without a story-prompt has
        a code of its own.
    cells : tuple of Cell
        The judge cells (run x judge x Eval-Prompt x criterion), in the order of the first axis of `judge`.
    judge, valid, asked : arrays, shape (judge cells, n)
        Mean over repeats with a rating, number of repeats with a rating, number of repeats requested.
    missing : tuple of mappings, one per judge cell
        Status -> number of repeats without a rating.
    imported : tuple of bool, one per judge cell
        Whether the ratings were imported from a table of another program.
    means : tuple of bool, one per judge cell
        Whether the ratings are means of repeats that are not available. This is possible only for imported
        ratings, and the import can declare it. If it did not, the ratings count as single ratings where all of
        them are points of the scale (whole numbers if the scale is not known), else as means.
    criteria : tuple of str
        The criteria that people rated.
    people, raters : arrays, shape (criteria, n)
        Mean over raters, number of ratings.
    judge_codes, people_codes : arrays of int
        Codes of `judge` and `people` for tau-b (`stats.correlation.kendall.codes`).
    rater_names : tuple of str
        Names of the raters, where they are known.
    labels : mapping
        Criterion name in lower case -> scale, for criteria whose ratings are codes of labels.
    declared : mapping
        (run, judge's criterion in lower case) -> human criterion with which the run compares it.
    """

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
        """Numeric features of the stories from an import, one row per story; no columns where there are none."""
        return self.stories.drop(columns=["story", "story_prompt", "system", "words", "text"])

    @property
    def n(self) -> int:
        """Number of stories in the dataset."""
        return len(self.stories)

    def repeats(self, cell: int) -> Floats:
        """Ratings of one judge cell (run x judge x Eval-Prompt x criterion), shape (stories with a requested repeat,
        repeats); NaN = no rating.
        """
        wide, _ = self._judge_rows.wide(cell, self.n)
        asked = self.asked[cell] > 0
        return np.asarray(wide[asked], dtype=np.float64)

    def answers(self, cell: int) -> Answers:
        """The repeats of one judge cell (run x judge x Eval-Prompt x criterion) for all stories of the dataset: which
        were requested, rated and explained.
        """
        ratings, numbers = self._judge_rows.wide(cell, self.n)
        asked = self._judge_rows.present(cell, self.n)
        return Answers(numbers, asked, ratings, self._judge_rows.present(cell, self.n, explained=True))

    def by_rater(self, criterion: int) -> Raters:
        """Human ratings of one criterion with one column for each rater, or for each position where raters are not
        known. They are computed once.
        """
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
        """Human ratings of one criterion, shape (stories, largest number of ratings). Each story's ratings are in
        stored order, so a column does not stand for one rater; NaN = no further rating.
        """
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
    """Whether every story's ratings are in ascending order, with at least 20 stories whose ratings differ, so that this
    is no coincidence.
    """
    steps = np.diff(ratings, axis=1) if ratings.shape[1] > 1 else np.empty((0, 0))
    if steps.size == 0 or bool((steps < 0).any()):
        return False
    return int((steps > 0).any(axis=1).sum()) >= 20
