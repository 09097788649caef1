"""Rating matrices: arrays of ratings by judges and by people with one common axis of stories, built from a ratings
table. Strings are converted to integer codes once, and no row is dropped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.base.arrays import Codes, Floats, ratio
from judge.base.errors import SpecError, unknown
from judge.base.records import Scale
from judge.stats.correlation import kendall

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RatingsTable, RunFacts


# Ratings of judges and people as arrays, with means and codes for rank correlations. A *judge cell* is run x judge x
# Eval-Prompt x criterion. All arrays share one axis of stories; without a rating, means are NaN and codes -1. A
# judge's rating is the mean over repeats with one, the human rating over raters; the numbers of ratings are kept too.

# Ratings in long format, sorted by group (a judge cell or a human criterion), and their means.

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
        return ratio(total, count).reshape(stories, columns.size), columns.astype(np.int64)

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
    return ratio(total, count).reshape(groups, n), count.reshape(groups, n)


def sums(cell: Codes, rating: Floats, size: int) -> tuple[Floats, Codes]:
    """(Sum, number) of ratings at each of `size` positions, which `cell` gives; NaN ratings are left out."""
    rated = ~np.isnan(rating)
    if not rated.all():
        cell, rating = cell[rated], rating[rated]
    total = np.bincount(cell, weights=rating, minlength=size).astype(np.float64)
    return total, np.bincount(cell, minlength=size).astype(np.int64)


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

    def wide(self, cell: int) -> Floats:
        """Ratings of one judge cell, shape (all stories, repeats); NaN = no rating."""
        return self._judge_rows.wide(cell, self.n)[0]

    def repeats(self, cell: int) -> Floats:
        """Ratings of one judge cell, shape (stories with a requested repeat, repeats); NaN = no rating."""
        return np.asarray(self.wide(cell)[self.asked[cell] > 0], dtype=np.float64)

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
        named = bool(column.size and column[0] >= 0)
        if named and not sorted_from_rater_to_rater(wide):
            return Raters(wide, tuple(self.rater_names[c] for c in column), known=True)
        positions = self.by_position(criterion)
        reason = "who gave which rating is not known"
        if named:
            reason += " (each story's ratings are sorted from rater to rater, so that no name is one person's)"
            return Raters(positions, (), known=False, reason=reason, ascending=True)
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


def sorted_from_rater_to_rater(ratings: Floats) -> bool:
    """Whether names are given by order: of ratings (stories, raters), a rater's never lie above another's."""
    # The same rater never above another, over three or more: of two, one may be the milder.
    seen = ratings[:, ~np.isnan(ratings).all(axis=0)]
    if seen.shape[1] < 3:
        return False
    return _all_sorted(seen[:, np.argsort(np.nanmean(seen, axis=0), kind="stable")])


def _all_sorted(ratings: Floats) -> bool:
    # At least 20 stories whose ratings differ, so that this is no coincidence.
    steps = np.diff(ratings, axis=1) if ratings.shape[1] > 1 else np.empty((0, 0))
    if steps.size == 0 or bool((steps < 0).any()):
        return False
    return int((steps > 0).any(axis=1).sum()) >= 20


# Decides which imported judge cells hold means of repeats and which hold single ratings. A judge cell is run x judge
# x Eval-Prompt x criterion. A declaration in the import has priority.

_WHOLE = Scale(min=-1e9, max=1e9, step=1)


def means_of_repeats(
    facts: Sequence[RunFacts], cells: Sequence[Cell], imported: Sequence[bool], asked: Codes, ratings: Floats
) -> tuple[bool, ...]:
    """For each judge cell, whether it holds means of repeats. `asked` (repeats requested) and `ratings` have shape
    (judge cells, stories). Several repeats of a story are single ratings."""
    return tuple(
        is_imported and int(asked[i].max(initial=0)) < 2 and _mean(facts, cell, ratings[i])
        for i, (cell, is_imported) in enumerate(zip(cells, imported, strict=True))
    )


def _mean(facts: Sequence[RunFacts], cell: Cell, ratings: Floats) -> bool:
    elsewhere = [fact for fact in facts if fact.parser == "imported"]
    # A folder may hold several runs, of which its facts name the first.
    own = [fact for fact in elsewhere if fact.run == cell.run] or elsewhere
    single_flags = {fact.single for fact in own}
    if single_flags <= {True, False} and len(single_flags) == 1:
        return single_flags == {False}
    scale = next((c.scale for fact in own for c in fact.criteria if c.name == cell.criterion), _WHOLE)
    return not all(scale.on_step(float(rating)) for rating in np.unique(ratings[~np.isnan(ratings)]))


# Names of the raters. Equal names in different panels are different persons.

_PANEL = "panel"


def raters(frame: pd.DataFrame) -> pd.Series[Any]:
    """The column of raters' names; one in several panels of a dataset becomes "NAME of PANEL"."""
    rater = frame["rater"]
    if _PANEL not in frame.columns:
        return rater
    named = frame[[*("dataset", "rater"), _PANEL]].astype(object).dropna().drop_duplicates()
    twice = named[named.duplicated(["dataset", "rater"], keep=False)]
    if twice.empty:
        return rater
    text, panel = rater.astype(object), frame[_PANEL].astype(object)
    shared = text.isin(set(twice["rater"])) & panel.notna()
    return text.where(~shared, text.astype(str) + " of " + panel.astype(str))


_KEY = ("run", "judge", "eval_prompt", "criterion")
_BUILT: ContextVar[dict[tuple[int | str, ...], tuple[RatingsTable, tuple[RatingMatrix, ...]]] | None] = ContextVar(
    "rating matrices", default=None
)
_CODED = ("dataset", "story", "story_prompt", "system", "source", "rater", "status", *_KEY)


@dataclass(frozen=True, slots=True, eq=False)
class _Coded:
    # Text columns are codes into `levels`; -1 = null, also in `repeat`.
    codes: dict[str, Integers]
    levels: dict[str, Sequence[Any]]
    rating: Floats
    repeat: Integers
    explained: NDArray[np.bool_]

    def where(self, keep: NDArray[np.bool_]) -> _Coded:
        # Without a copy if all rows are kept.
        if keep.all():
            return self
        codes = {name: code[keep] for name, code in self.codes.items()}
        return _Coded(codes, self.levels, self.rating[keep], self.repeat[keep], self.explained[keep])

    def dense(self, name: str) -> tuple[Integers, list[Any]]:
        # Codes in order of first appearance, and -1 for null.
        code = self.codes[name]
        new_codes = np.full(len(self.levels[name]) + 1, -1, dtype=np.int64)
        used = _first_rows(code, len(self.levels[name]))
        present = np.flatnonzero(used < code.size)
        order = present[np.argsort(used[present])]
        new_codes[order] = np.arange(order.size)
        return new_codes.astype(np.int32)[code], [self.levels[name][i] for i in order]


def build(table: RatingsTable, *, drop_systems: Sequence[str] = ()) -> tuple[RatingMatrix, ...]:
    """A rating matrix for each dataset, in order of appearance; once for each table within `built_once`. `drop_systems`
    leaves out stories, e.g. ``["Human"]`` as the HANNA study did. Raises SpecError for a system in none of the
    datasets."""
    known = _BUILT.get()
    if known is None:
        return _build(table, drop_systems)
    key: tuple[int | str, ...] = (id(table), *drop_systems)
    if key not in known:
        known[key] = (table, _build(table, drop_systems))  # with its table, so that no other gets its number
    return known[key][1]


@contextmanager
def built_once() -> Iterator[None]:
    """Within it, a table's matrices are built once. It spans one computation: a table that is changed in between, as in
    a notebook, would keep its old ones."""
    if _BUILT.get() is not None:
        yield
        return
    before = _BUILT.set({})
    try:
        yield
    finally:
        _BUILT.reset(before)


def _build(table: RatingsTable, drop_systems: Sequence[str]) -> tuple[RatingMatrix, ...]:
    rows = _code(table.frame)
    systems = list(rows.levels["system"])
    for name in drop_systems:
        if len(table.frame) and name not in systems:
            raise SpecError(unknown("system", name, (str(s) for s in systems)))
    if drop_systems:
        rows = rows.where(~np.isin(rows.codes["system"], [i for i, name in enumerate(systems) if name in drop_systems]))
    dataset, names = rows.dense("dataset")
    return tuple(_build_one(str(name), rows.where(dataset == i), table) for i, name in enumerate(names))


def _code(frame: pd.DataFrame) -> _Coded:
    codes: dict[str, Integers] = {}
    levels: dict[str, Sequence[Any]] = {}
    for name in _CODED:
        column = raters(frame) if name == "rater" else frame[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            codes[name], levels[name] = column.cat.codes.to_numpy(), list(column.cat.categories)
        else:
            code, values = pd.factorize(column)
            codes[name], levels[name] = code.astype(np.int32), list(values)
    repeat = frame["repeat"].to_numpy(dtype=np.float32, na_value=-1.0).astype(np.int32)
    rating = frame["rating"].to_numpy(dtype=np.float64, na_value=np.nan)
    return _Coded(codes, levels, rating, repeat, frame["explanation"].notna().to_numpy())


def _build_one(dataset: str, rows: _Coded, table: RatingsTable) -> RatingMatrix:
    story, names = rows.dense("story")
    n = len(names)
    stories = _stories(dataset, rows, story, names, table.stories)
    system, systems = pd.factorize(stories["system"])
    source = list(rows.levels["source"])
    is_judge = rows.codes["source"] == (source.index("judge") if "judge" in source else -2)
    asked_rows, person_rows = rows.where(is_judge), rows.where(~is_judge)

    cell, cells = _cells(asked_rows)
    story_of, lost = story[is_judge], np.isnan(asked_rows.rating)
    asked = np.bincount(cell.astype(np.int64) * n + story_of, minlength=len(cells) * n).reshape(len(cells), n)
    judge, valid = cell_means(cell, len(cells), story_of, asked_rows.rating, n)
    imported = _imported(cell, len(cells), asked_rows)
    repeat, rating, explained = asked_rows.repeat, asked_rows.rating, asked_rows.explained
    judge_rows = sort_rows(cell, len(cells), story_of, repeat, rating, explained)

    criterion, criteria = person_rows.dense("criterion")
    rater, rater_names = person_rows.dense("rater")
    people, raters = cell_means(criterion, len(criteria), story[~is_judge], person_rows.rating, n)
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
        missing=_missing(cell, len(cells), asked_rows, lost),
        imported=imported,
        means=means_of_repeats(table.facts, cells, imported, asked, judge),
        criteria=tuple(str(c) for c in criteria),
        people=people,
        raters=raters,
        judge_codes=_codes(judge),
        people_codes=_codes(people),
        rater_names=tuple(str(r) for r in rater_names),
        _judge_rows=judge_rows,
        _people_rows=sort_rows(criterion, len(criteria), story[~is_judge], rater, person_rows.rating),
        labels={name: scale for (labelled_dataset, name), scale in table.labels.items() if labelled_dataset == dataset},
        declared={(f.run, own.casefold()): theirs for f in table.facts for own, theirs in f.people.items()},
    )


def _stories(
    dataset: str, rows: _Coded, story: Integers, names: Sequence[object], story_facts: pd.DataFrame
) -> pd.DataFrame:
    # Story-prompt and system come from the rows; words, text and features from the table of stories.
    first = _first_rows(story, len(names))
    facts = pd.DataFrame({"story": names}).set_index("story")
    for name in ("story_prompt", "system"):
        levels = np.array([*rows.levels[name], None], dtype=object)
        facts[name] = levels[rows.codes[name][first]]
    facts["words"], facts["text"] = np.nan, ""
    if dataset in story_facts.index.get_level_values(0):
        more = story_facts.xs(dataset, level=0).reindex(facts.index)
        facts["words"] = more["words"].astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan)
        facts["text"] = more["text"].where(more["text"].notna(), "").astype(object)
        features = more.columns.difference(list(facts.columns), sort=False)
        facts[list(features)] = more[list(features)].astype(np.float64)
    return facts.rename_axis("story").reset_index()


def _first_rows(code: Integers, levels: int) -> Codes:
    # The total number of rows for a code that does not occur.
    first = np.full(levels + 1, code.size, dtype=np.int64)
    first[code[::-1]] = np.arange(code.size - 1, -1, -1)
    return first[:levels]


def _cells(rows: _Coded) -> tuple[Integers, tuple[Cell, ...]]:
    # (Judge cell of each row, judge cells in order of appearance)
    code = np.zeros(rows.rating.size, dtype=np.int64)
    for name in _KEY:
        code = code * (len(rows.levels[name]) + 1) + rows.codes[name] + 1
    cell, keys = pd.factorize(code)
    first = _first_rows(cell, len(keys))
    named = {name: [*rows.levels[name], None] for name in _KEY}
    cells = tuple(Cell(*(str(named[name][rows.codes[name][row]]) for name in _KEY)) for row in first)
    return cell.astype(np.int32), cells


def _missing(cell: Integers, cells: int, rows: _Coded, lost: NDArray[np.bool_]) -> tuple[dict[str, int], ...]:
    names = [str(name) for name in rows.levels["status"]]
    code = cell[lost].astype(np.int64) * len(names) + rows.codes["status"][lost]
    table = np.bincount(code, minlength=cells * len(names)).reshape(cells, len(names))
    order = sorted(range(len(names)), key=names.__getitem__)
    return tuple({names[i]: int(row[i]) for i in order if row[i]} for row in table)


def _imported(cell: Integers, cells: int, rows: _Coded) -> tuple[bool, ...]:
    names = list(rows.levels["status"])
    code = names.index("imported") if "imported" in names else -2
    return tuple(bool(count) for count in np.bincount(cell[rows.codes["status"] == code], minlength=cells))


def _prompt_codes(prompts: pd.Series[str]) -> Codes:
    # A story without a story-prompt gets a code of its own.
    text = prompts.where(prompts.notna(), "").astype(str)
    own = [t if t else f"\0{i}" for i, t in enumerate(text)]
    return pd.factorize(pd.Series(own, dtype=object))[0].astype(np.int64)


def _codes(means: Floats) -> Codes:
    return np.stack([kendall.codes(row) for row in means]) if means.size else np.empty(means.shape, dtype=np.int64)
