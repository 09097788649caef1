"""Ratings in long format, sorted by group (a judge cell or a human criterion), and their means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Integers = NDArray[np.integer[Any]]
"""Codes of any width: ten million ratings fit into memory as int32."""


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
