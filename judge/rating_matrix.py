"""Ratings as arrays: judge cells and people by story, means, codes made once. Never fills a gap.

A *cell* is run x judge x Eval-Prompt x criterion. All arrays of a matrix share one axis of stories; a story without a
rating is NaN in the means and -1 in the codes. A judge's rating of a story is the mean of its rated repeats, the
people's is the mean over raters; how many went into each stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.errors import SpecError, unknown
from judge.stats import kendall

if TYPE_CHECKING:
    from judge.ratings_table import RatingsTable

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


class Cell(NamedTuple):
    """What one row of a correlation table is about."""

    run: str
    judge: str
    eval_prompt: str
    criterion: str


@dataclass(frozen=True, slots=True, eq=False)
class Raters:
    """People's ratings of one criterion, one column a rater, or, where `known` is false, one column a position.

    `reason` says why identity is not known; positions allow one-way statistics only.
    """

    ratings: Floats
    names: tuple[str, ...]
    known: bool
    reason: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Long rows sorted by what they belong to: rows of group g are bounds[g]:bounds[g + 1]."""

    story: Codes
    column: Codes
    rating: Floats
    bounds: Codes

    def wide(self, group: int, stories: int) -> tuple[Floats, Codes]:
        """The group's ratings as (stories, columns), NaN = none, and the columns' numbers; doubles are averaged."""
        rows = slice(int(self.bounds[group]), int(self.bounds[group + 1]))
        columns, column = np.unique(self.column[rows], return_inverse=True)
        place = self.story[rows] * columns.size + column.reshape(-1)
        total, count = _sums(place, self.rating[rows], stories * columns.size)
        return _means(total, count).reshape(stories, columns.size), columns


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
    criteria : tuple of str
        The people's criteria.
    people, raters : arrays, shape (criteria, n)
        Mean over raters, number of ratings.
    judge_codes, people_codes : arrays of int
        Codes of `judge` and `people` for tau-b (`stats.kendall.codes`).
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
    criteria: tuple[str, ...]
    people: Floats
    raters: Codes
    judge_codes: Codes
    people_codes: Codes
    rater_names: tuple[str, ...]
    _judge_rows: _Rows
    _people_rows: _Rows

    @property
    def features(self) -> pd.DataFrame:
        """Numeric features of the stories that came with an import, one row a story; without columns where none did."""
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

    def by_rater(self, criterion: int) -> Raters:
        """People's ratings of one criterion a column for each rater, or a position where raters are unknown."""
        wide, column = self._people_rows.wide(criterion, self.n)
        if column.size and column[0] >= 0:
            return Raters(wide, tuple(self.rater_names[c] for c in column), known=True)
        positions = self._by_position(criterion)
        reason = "who gave which rating is not known"
        if _all_sorted(positions):
            reason += " (each story's ratings are stored in ascending order)"
        return Raters(positions, (), known=False, reason=reason)

    def _by_position(self, criterion: int) -> Floats:
        rows = slice(int(self._people_rows.bounds[criterion]), int(self._people_rows.bounds[criterion + 1]))
        story, rating = self._people_rows.story[rows], self._people_rows.rating[rows]
        order = np.argsort(story, kind="stable")
        story, rating = story[order], rating[order]
        first = np.searchsorted(story, np.arange(self.n))
        position = np.arange(story.size) - first[story]
        out = np.full((self.n, int(position.max()) + 1 if position.size else 0), np.nan)
        out[story, position] = rating
        return out


def build(table: RatingsTable, *, drop_systems: Sequence[str] = ()) -> tuple[RatingMatrix, ...]:
    """One matrix for each dataset of a ratings table, in order of appearance.

    Parameters
    ----------
    table : RatingsTable
    drop_systems : sequence of str
        Systems whose stories are left out everywhere, e.g. ``["Human"]`` as the HANNA study did.

    Raises
    ------
    SpecError
        A system to drop that is in none of the datasets.
    """
    frame = table.frame
    known = set(frame["system"].dropna().unique())
    for name in drop_systems:
        if name not in known:
            raise SpecError(unknown("system", name, (str(s) for s in known)))
    if drop_systems:
        frame = frame[~frame["system"].isin(list(drop_systems))]
    return tuple(
        _build_one(str(dataset), part, table.stories)
        for dataset, part in frame.groupby("dataset", sort=False, observed=True)
    )


def _build_one(dataset: str, frame: pd.DataFrame, known_stories: pd.DataFrame) -> RatingMatrix:
    story, names = pd.factorize(frame["story"])
    n = len(names)
    stories = _stories(dataset, frame, names, known_stories)
    system, systems = pd.factorize(stories["system"])
    is_judge = (frame["source"] == "judge").to_numpy()
    rating = frame["rating"].to_numpy(dtype=np.float64, na_value=np.nan)
    asked_rows = frame[is_judge]
    cell, cells = _cells(asked_rows)
    judge_rows = _rows(cell, len(cells), story[is_judge], _repeat(asked_rows), rating[is_judge])
    asked = np.bincount(cell * n + story[is_judge], minlength=len(cells) * n).reshape(len(cells), n)
    judge, valid = _cell_means(cell, len(cells), story[is_judge], rating[is_judge], n)

    person_rows = frame[~is_judge]
    criterion, criteria = pd.factorize(person_rows["criterion"])
    rater, rater_names = pd.factorize(person_rows["rater"])
    people_rows = _rows(criterion, len(criteria), story[~is_judge], rater, rating[~is_judge])
    people, raters = _cell_means(criterion, len(criteria), story[~is_judge], rating[~is_judge], n)
    return RatingMatrix(
        dataset=dataset,
        stories=stories,
        systems=tuple(str(s) for s in systems),
        system=system.astype(np.int64),
        story_prompt=_prompt_codes(stories["story_prompt"]),
        cells=cells,
        judge=judge,
        valid=valid,
        asked=asked,
        missing=_missing(cell, len(cells), asked_rows["status"], np.isnan(rating[is_judge])),
        imported=_imported(cell, len(cells), asked_rows["status"]),
        criteria=tuple(str(c) for c in criteria),
        people=people,
        raters=raters,
        judge_codes=_codes(judge),
        people_codes=_codes(people),
        rater_names=tuple(str(r) for r in rater_names),
        _judge_rows=judge_rows,
        _people_rows=people_rows,
    )


def _stories(dataset: str, frame: pd.DataFrame, names: Iterable[object], known: pd.DataFrame) -> pd.DataFrame:
    """Facts of the stories in axis order: from the frame, with words and text where the table of stories has them."""
    facts = frame.drop_duplicates("story").set_index("story")[["story_prompt", "system"]].reindex(list(names))
    facts["words"], facts["text"] = np.nan, ""
    if dataset in known.index.get_level_values(0):
        more = known.xs(dataset, level=0).reindex(facts.index)
        facts["words"] = more["words"].astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan)
        facts["text"] = more["text"].where(more["text"].notna(), "").astype(object)
        features = more.columns.difference(list(facts.columns), sort=False)
        facts[list(features)] = more[list(features)].astype(np.float64)
    return facts.rename_axis("story").reset_index()


def _cells(rows: pd.DataFrame) -> tuple[Codes, tuple[Cell, ...]]:
    """Cell of each row, and the cells in order of appearance."""
    code = np.zeros(len(rows), dtype=np.int64)
    for column in Cell._fields:
        part, levels = pd.factorize(rows[column])
        code = code * max(1, len(levels)) + part
    cell, keys = pd.factorize(code)
    first = np.full(len(keys), len(rows), dtype=np.int64)
    np.minimum.at(first, cell, np.arange(len(rows)))
    heads = rows.iloc[first][list(Cell._fields)]
    return cell.astype(np.int64), tuple(Cell(*(str(v) for v in head)) for head in heads.itertuples(index=False))


def _repeat(rows: pd.DataFrame) -> Codes:
    return rows["repeat"].to_numpy(dtype=np.float64, na_value=-1.0).astype(np.int64)


def _rows(group: Codes, groups: int, story: Codes, column: Codes, rating: Floats) -> _Rows:
    order = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[order], np.arange(groups + 1)).astype(np.int64)
    return _Rows(story[order].astype(np.int64), column[order].astype(np.int64), rating[order], bounds)


def _cell_means(group: Codes, groups: int, story: Codes, rating: Floats, n: int) -> tuple[Floats, Codes]:
    total, count = _sums(group * n + story, rating, groups * n)
    return _means(total, count).reshape(groups, n), count.reshape(groups, n)


def _sums(place: Codes, rating: Floats, size: int) -> tuple[Floats, Codes]:
    known = ~np.isnan(rating)
    total = np.bincount(place[known], weights=rating[known], minlength=size).astype(np.float64)
    return total, np.bincount(place[known], minlength=size).astype(np.int64)


def _means(total: Floats, count: Codes) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(count > 0, total / count, np.nan), dtype=np.float64)


def _missing(cell: Codes, cells: int, status: pd.Series[str], lost: NDArray[np.bool_]) -> tuple[dict[str, int], ...]:
    code, names = pd.factorize(status[lost], sort=True)
    counts = np.bincount(cell[lost] * max(1, len(names)) + code, minlength=cells * max(1, len(names)))
    table = counts.reshape(cells, max(1, len(names)))
    return tuple({str(name): int(c) for name, c in zip(names, row, strict=False) if c} for row in table)


def _imported(cell: Codes, cells: int, status: pd.Series[str]) -> tuple[bool, ...]:
    return tuple(bool(count) for count in np.bincount(cell[(status == "imported").to_numpy()], minlength=cells))


def _prompt_codes(prompts: pd.Series[str]) -> Codes:
    """Codes of story-prompts; where there is none (null or empty), each story is its own."""
    text = prompts.where(prompts.notna(), "").astype(str)
    own = [t if t else f"\0{i}" for i, t in enumerate(text)]
    return pd.factorize(pd.Series(own, dtype=object))[0].astype(np.int64)


def _codes(means: Floats) -> Codes:
    return np.stack([kendall.codes(row) for row in means]) if means.size else np.empty(means.shape, dtype=np.int64)


def _all_sorted(ratings: Floats) -> bool:
    """Whether every list is ascending, in enough lists (20 with differing numbers) that it cannot be chance."""
    steps = np.diff(ratings, axis=1) if ratings.shape[1] > 1 else np.empty((0, 0))
    if steps.size == 0 or bool((steps < 0).any()):
        return False
    return int((steps > 0).any(axis=1).sum()) >= 20
