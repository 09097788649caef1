"""Rating matrix: ratings as arrays by judge cell and by person, with means and codes made once.

A *cell* is run x judge x Eval-Prompt x criterion. All arrays of a matrix share one axis of stories; a story without a
rating is NaN in the means and -1 in the codes. A judge's rating of a story is the mean of its rated repeats, the
people's is the mean over raters; how many went into each stands beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.rating_matrix.rows import Codes, Floats, RatingRows
from judge.records import Scale


class Cell(NamedTuple):
    """A judge cell: run, judge, Eval-Prompt and criterion of one row of a correlation table."""

    run: str
    judge: str
    eval_prompt: str
    criterion: str


@dataclass(frozen=True, slots=True, eq=False)
class Raters:
    """People's ratings of one criterion, with one column for each rater or, where `known` is false, for each position.

    `reason` says why identity is not known; positions allow one-way statistics only. `ascending` positions are those of
    sorted ratings, so that a position is nobody's.
    """

    ratings: Floats
    names: tuple[str, ...]
    known: bool
    reason: str | None = None
    ascending: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """The repeats of one cell, on the matrix's axis of stories: shapes (n, k); `numbers` (k,) holds the numbers of the
    repeats.

    `asked` = the repeat was asked, `ratings` is NaN where it was not, or gave none; `explained` = it came with an
    explanation.
    """

    numbers: Codes
    asked: NDArray[np.bool_]
    ratings: Floats
    explained: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class RatingMatrix:
    """All ratings of one dataset.

    Attributes
    ----------
    stories : DataFrame, one row a story
        `story, story_prompt, system, words, text` and the features that came with an import, in story order.
    system, story_prompt : array of int, shape (n,)
        Codes into `systems` and of story-prompts; a story without a story-prompt is a story-prompt of its own.
    cells : tuple of Cell
    judge, valid, asked : arrays, shape (cells, n)
        Mean over rated repeats, number of rated repeats, number of repeats asked.
    missing : tuple of mappings, one a cell
        Status -> number of repeats without a rating.
    imported : tuple of bool, one a cell
        Whether the ratings come from a table made elsewhere.
    means : tuple of bool, one a cell
        Whether these are means of repeats that are not at hand. Only imported ratings can be: where the import did not
        say it, one number a story counts as a single rating if all numbers of the cell are points of the scale (whole
        numbers, where the scale is not known), else as a mean.
    criteria : tuple of str
        The people's criteria.
    people, raters : arrays, shape (criteria, n)
        Mean over raters, number of ratings.
    labels : mapping
        Scales of criteria whose ratings are codes of labels, by the criterion's name in small letters.
    declared : mapping
        (run, judge's criterion in small letters) -> people's criterion that the run sets it against.
    judge_codes, people_codes : arrays of int
        Codes of `judge` and `people` for tau-b (`stats.correlation.kendall.codes`).
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

    @property
    def features(self) -> pd.DataFrame:
        """Numeric features of the stories from an import, one row for each story; no columns without any."""
        return self.stories.drop(columns=["story", "story_prompt", "system", "words", "text"])

    @property
    def n(self) -> int:
        """Number of stories."""
        return len(self.stories)

    def repeats(self, cell: int) -> Floats:
        """The cell's ratings by repeat, shape (asked stories, repeats); NaN = no rating."""
        wide, _ = self._judge_rows.wide(cell, self.n)
        asked = self.asked[cell] > 0
        return np.asarray(wide[asked], dtype=np.float64)

    def answers(self, cell: int) -> Answers:
        """The cell's repeats for all stories of the dataset: which were asked, rated and explained."""
        ratings, numbers = self._judge_rows.wide(cell, self.n)
        asked = self._judge_rows.present(cell, self.n)
        return Answers(numbers, asked, ratings, self._judge_rows.present(cell, self.n, explained=True))

    def by_rater(self, criterion: int) -> Raters:
        """People's ratings of one criterion a column for each rater, or a position where raters are unknown."""
        wide, column = self._people_rows.wide(criterion, self.n)
        if column.size and column[0] >= 0:
            return Raters(wide, tuple(self.rater_names[c] for c in column), known=True)
        positions = self.by_position(criterion)
        reason = "who gave which rating is not known"
        ascending = _all_sorted(positions)
        if ascending:
            reason += " (each story's ratings are stored in ascending order)"
        return Raters(positions, (), known=False, reason=reason, ascending=ascending)

    def by_position(self, criterion: int) -> Floats:
        """People's ratings of one criterion in stored order, first to last for each story, regardless of the rater."""
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
    """Whether every list is ascending, in enough lists (20 with differing numbers) that it cannot be chance."""
    steps = np.diff(ratings, axis=1) if ratings.shape[1] > 1 else np.empty((0, 0))
    if steps.size == 0 or bool((steps < 0).any()):
        return False
    return int((steps > 0).any(axis=1).sum()) >= 20
