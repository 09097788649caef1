"""Analysis of a judge's repeats: how agreement with people depends on their number and on how they are combined."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from judge.analysis.correlation.statistic import Intervals, Side, Statistic
from judge.analysis.frames import parts_of
from judge.analysis.inputs.bars import Remarks
from judge.analysis.inputs.candidates import Subject, judge_cell, match
from judge.analysis.inputs.label_criteria import numbers
from judge.analysis.options.signature import Signed, signature_parts
from judge.analysis.options.table_options import CorrelationOptions, RepeatsOptions
from judge.base.arrays import Floats, ratio
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table, cells_of, plain, titled
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.ratings.ratings_table import RatingsTable, read
from judge.stats.agreement import confusion, icc

# Result of the analysis of repeats.

How = Literal["mean", "median", "mode"]


@dataclass(frozen=True, slots=True)
class Count:
    """Agreement of the mean of `k` repeats with people, averaged over subsets, and as `predicted` by Spearman-Brown."""

    subject: Subject
    k: int
    value: Estimate
    predicted: float | None
    subsets: int


@dataclass(frozen=True, slots=True)
class Summed:
    """Agreement with people of all repeats combined in one way; `over` is it minus that of the mean, paired."""

    subject: Subject
    how: How
    value: Estimate
    over: Estimate
    stories: int


@dataclass(frozen=True, slots=True)
class Stratum:
    """Agreement on stories with a similar standard deviation of human ratings; `spread` is the mean of these."""

    subject: Subject
    name: str
    spread: float
    stories: int
    value: Estimate


@dataclass(frozen=True, slots=True)
class Apart:
    """Distances between the distributions of single ratings of a judge and of people, on the stories that both rated.
    `mean` is the judge's minus people's; `wasserstein` and (total) `variation` are over all ratings; `by_story` is the
    mean distance within stories with several ratings of both."""

    subject: Subject
    mean: Estimate
    wasserstein: Estimate
    variation: Estimate
    by_story: Estimate


@dataclass(frozen=True, slots=True, eq=False)
class Repeats(Signed):
    """Agreement with people by number of repeats (`counts`), by way to combine them (`sums`) and by disagreement among
    people (`strata`), and distances between distributions (`apart`), of every judge and Eval-Prompt on each criterion.
    """

    counts: tuple[Count, ...]
    sums: tuple[Summed, ...]
    strata: tuple[Stratum, ...]
    apart: tuple[Apart, ...]
    options: RepeatsOptions

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each number, named by `what`. `at` says for what it holds: the number of repeats, the way to
        combine them, or a part of the stories, such as ``people agree most``; None for distances."""
        return self.signed(self._rows())

    def _rows(self) -> Iterator[dict[str, object]]:
        for count in self.counts:
            yield _flat(count.subject, "repeats", str(count.k), count.value)
        for summed in self.sums:
            yield _flat(summed.subject, "summed", summed.how, summed.value)
            yield _flat(summed.subject, "summed, minus mean", summed.how, summed.over)
        for stratum in self.strata:
            yield _flat(stratum.subject, "people's disagreement", stratum.name, stratum.value)
        for row in self.apart:
            for statistic, value in (
                ("mean difference", row.mean),
                ("Wasserstein distance", row.wasserstein),
                ("total variation", row.variation),
                ("Wasserstein distance by story", row.by_story),
            ):
                yield _flat(row.subject, statistic, None, value)


def _flat(subject: Subject, statistic: str, at: str | None, value: Estimate) -> dict[str, object]:
    about = cells_of(subject, "dataset", "run", "judge", "eval_prompt", "criterion", "against")
    return about | {"what": statistic, "at": at} | parts_of(value)


# Computation of the analysis of repeats, for every judge, Eval-Prompt and criterion that people rated.

# Adds the ratings that answers state in their text, as separate runs, to ratings scored by log-probabilities.


def with_stated(table: RatingsTable, parser: str = "ours") -> RatingsTable:
    """The table with a second reading of each run scored by log-probabilities: the ratings stated in its answers, as
    "RUN, as stated", for the judges, stories, Eval-Prompts and criteria that the table has."""
    scored = [fact for fact in table.facts if fact.parser.endswith("+logprobs") or "+logprobs+" in fact.parser]
    if not scored:
        return table
    places: Sequence[Path] = [fact.path for fact in scored]
    again = read(places, parser, stated=True)
    names = {fact.run: f"{fact.run}, as stated" for fact in again.facts}
    keys = ["run", "judge", "dataset", "story", "eval_prompt", "criterion"]
    judge_keys = table.frame.loc[table.frame["source"] == "judge", keys].drop_duplicates()
    judged = again.frame[again.frame["source"] == "judge"].merge(judge_keys, on=keys)
    judged = judged.assign(run=judged["run"].astype(str).map(names))
    facts = tuple(replace(fact, run=names[fact.run]) for fact in again.facts)
    frame = pd.concat([table.frame, judged.reindex(columns=list(table.frame.columns))], ignore_index=True)
    return replace(table, frame=frame, facts=(*table.facts, *facts))


# Subsets of k repeats that are averaged over, at most.
SUBSETS = 20

# With more distinct ratings than that, such as expected values, the points are whole numbers.
_MOST_POINTS = 50

_NAMES = ("people agree most", "in between", "people disagree most")


def repeats(table: RatingsTable, options: RepeatsOptions | None = None) -> Repeats:
    """Agreement with people by number of repeats, by way to combine them and by disagreement among people, and
    distances between the distributions of judges' and human ratings."""
    options, remarks = options or RepeatsOptions(), Remarks()
    table = numbers(table)
    matrices = build(table, drop_systems=options.drop_systems)
    remarks.note(table.notes)
    cells = [cell for matrix in matrices for cell in _cells(matrix, options, remarks)]
    return Repeats(
        counts=tuple(row for cell in cells for row in cell.counts()),
        sums=tuple(row for cell in cells for row in cell.sums()),
        strata=tuple(row for cell in cells for row in cell.strata()),
        apart=tuple(cell.apart() for cell in cells),
        options=options,
        signature_parts=signature_parts(table, matrices, options, extra=[f"tau:b|subsets:{SUBSETS}"]),
        notes=tuple(remarks.notes),
    )


def _cells(matrix: RatingMatrix, options: RepeatsOptions, remarks: Remarks) -> Iterator[_Cell]:
    pairs = match(matrix, options.against)
    chosen = CorrelationOptions(ci=options.ci, resamples=options.resamples, seed=options.seed)
    statistic = Statistic.of(matrix, chosen)
    intervals = Intervals.of(matrix, chosen, statistic)
    remarks.note([*pairs.notes, *intervals.notes])
    for i, j in enumerate(pairs.partner):
        if j is not None:
            yield _Cell(matrix, i, j, intervals, np.random.default_rng(options.seed))


class _Cell:
    def __init__(self, matrix: RatingMatrix, i: int, j: int, intervals: Intervals, rng: np.random.Generator) -> None:
        self.matrix, self.i, self.j, self.intervals, self.rng = matrix, i, j, intervals, rng
        self.subject: Subject = judge_cell(matrix, i, matrix.criteria[j], None).subject
        self.people, self.ratings = matrix.people[j], matrix.wide(i)
        self.single = not matrix.means[i]

    def counts(self) -> Iterator[Count]:
        whole = ~np.isnan(self.ratings).any(axis=1) & ~np.isnan(self.people)
        most = self.ratings.shape[1]
        if most < 2 or not self.single or not whole.any():
            return
        ratings = np.where(whole[:, None], self.ratings, np.nan)
        rho = next(row.estimate.value for row in icc.family(ratings[whole]).rows if row.form == "ICC(1,1)")
        first: float | None = None
        for k in range(1, most + 1):
            chosen = self._subsets(most, k)
            means = np.stack([ratings[:, list(subset)].mean(axis=1) for subset in chosen])
            value = self._average(means)
            first = value.value if k == 1 else first
            yield Count(self.subject, k, value, _spearman_brown(first, rho, k), len(chosen))

    def _subsets(self, most: int, k: int) -> list[tuple[int, ...]]:
        if comb(most, k) <= SUBSETS:
            return list(combinations(range(most), k))
        return [tuple(sorted(self.rng.choice(most, k, replace=False))) for _ in range(SUBSETS)]

    def _average(self, rows: Floats) -> Estimate:
        """Mean over rows, shape (rows, n stories), of their correlation with people; undefined if one is."""
        people = Side(self.people)
        estimates = [self.intervals.statistic.estimate(Side(row), people) for row in rows]
        lost = next((estimate for estimate in estimates if estimate.value is None), None)
        if lost is not None:
            return lost
        mean = Estimate(
            float(np.mean([estimate.value for estimate in estimates])), n=min(estimate.n for estimate in estimates)
        )
        return self.intervals.of_values(mean, tuple(v.mean(axis=0) for v in self.intervals.values(rows, self.people)))

    def sums(self) -> Iterator[Summed]:
        if self.ratings.shape[1] < 2 or not self.single:
            return
        ways: dict[How, Floats] = {
            "mean": self.matrix.judge[self.i],
            "median": _by_row(self.ratings, np.median),
            "mode": _by_row(self.ratings, _mode),
        }
        people = Side(self.people)
        values = self.intervals.values(np.stack(list(ways.values())), self.people)
        mean = self.intervals.statistic.estimate(Side(ways["mean"]), people)
        for at, (how, summed) in enumerate(ways.items()):
            whole = self.intervals.statistic.estimate(Side(summed), people)
            value = self.intervals.of_values(whole, tuple(drawn[at] for drawn in values))
            over = Estimate.undefined("it is the mean itself" if how == "mean" else str(whole.reason or mean.reason))
            if how != "mean" and whole.value is not None and mean.value is not None:
                difference = Estimate(whole.value - mean.value, n=whole.n)
                over = self.intervals.of_values(difference, tuple(drawn[at] - drawn[0] for drawn in values))
            yield Summed(self.subject, how, value, over, whole.n)

    def strata(self) -> Iterator[Stratum]:
        """In thirds of the stories by people's standard deviation; equal ones are in the same third."""
        positions = self.matrix.by_position(self.j)
        several = (~np.isnan(positions)).sum(axis=1) >= 2
        judge = self.matrix.judge[self.i]
        usable = several & ~np.isnan(judge)
        if int(usable.sum()) < len(_NAMES):
            return
        spread = _by_row(positions, lambda given: float(np.std(given, ddof=1)) if given.size > 1 else np.nan)
        cuts = np.quantile(spread[usable], [1 / 3, 2 / 3])
        stratum = np.where(usable, np.searchsorted(cuts, np.nan_to_num(spread), side="left"), -1)
        for k, name in enumerate(_NAMES):
            stories = stratum == k
            if stories.any():
                value = self._average(np.where(stories, judge, np.nan)[None])
                yield Stratum(self.subject, name, float(spread[stories].mean()), int(stories.sum()), value)

    def apart(self) -> Apart:
        theirs = self.matrix.by_position(self.j)
        both = ~np.isnan(self.matrix.judge[self.i]) & ~np.isnan(self.people)
        if not both.any() or not self.single:
            none = Estimate.undefined(
                "no story was rated by both" if self.single else "means of repeats have another spread than ratings"
            )
            return Apart(self.subject, none, none, none, none)
        mine, theirs = (np.where(both[:, None], side, np.nan) for side in (self.ratings, theirs))
        points = np.unique(np.concatenate([np.round(side[~np.isnan(side)], 9) for side in (mine, theirs)]))
        if points.size > _MOST_POINTS:
            points = np.arange(np.floor(points[0]), np.ceil(points[-1]) + 1)
        judge_counts, people_counts = confusion.counted(mine, points), confusion.counted(theirs, points)

        def estimate(measure: Callable[[Floats, Floats], Floats]) -> Estimate:
            whole = Estimate(float(measure(judge_counts.sum(axis=0), people_counts.sum(axis=0))), n=int(both.sum()))
            drawn = (s.values(lambda w: measure(w @ judge_counts, w @ people_counts)) for s in self.intervals.sets)
            return self.intervals.of_values(whole, tuple(drawn))

        return Apart(
            self.subject,
            estimate(lambda a, b: (confusion.shares(a) - confusion.shares(b)) @ points),
            estimate(lambda a, b: confusion.wasserstein(confusion.shares(a), confusion.shares(b), points)),
            estimate(lambda a, b: confusion.total_variation(confusion.shares(a), confusion.shares(b))),
            self._by_story(judge_counts, people_counts, points),
        )

    def _by_story(self, judge_counts: Floats, people_counts: Floats, points: Floats) -> Estimate:
        """Mean Wasserstein distance within stories that both rated at least twice."""
        several = (judge_counts.sum(axis=1) > 1.5) & (people_counts.sum(axis=1) > 1.5)
        if not several.any():
            return Estimate.undefined("no story has several ratings of both")
        each = confusion.wasserstein(confusion.shares(judge_counts), confusion.shares(people_counts), points)
        filled, weight = np.where(several, each, 0.0), several.astype(np.float64)

        estimate = Estimate(float(each[several].mean()), n=int(several.sum()))
        drawn = (one.values(lambda w: ratio(w @ filled, w @ weight)) for one in self.intervals.sets)
        return self.intervals.of_values(estimate, tuple(drawn))


def _by_row(ratings: Floats, summed: Callable[[Floats], float]) -> Floats:
    """A summary of each story's ratings, shape (stories,); NaN without a rating."""
    rows = ([each for each in row if each == each] for row in ratings.tolist())  # NaN differs from itself
    return np.array([summed(np.array(row)) if row else np.nan for row in rows], dtype=np.float64)


def _spearman_brown(first: float | None, rho: float | None, k: int) -> float | None:
    if first is None or rho is None or 1 + (k - 1) * rho <= 0:
        return None
    return float(first * np.sqrt(k / (1 + (k - 1) * rho)))


def _mode(given: Floats) -> float:
    """Most frequent rating; the mean of several."""
    values, counts = np.unique(given, return_counts=True)
    return float(values[counts == counts.max()].mean())


# Printed tables of the analysis of repeats.

_BY_COUNT = (
    f"by number: averaged over at most {SUBSETS} subsets, on the stories that have every repeat; predicted: Spearman "
    "and Brown's formula from one repeat and ICC(1,1)"
)
_BY_SUM = "where several ratings are equally frequent, the mode is their mean"
_BY_STRATUM = "people's disagreement: thirds of the stories by the standard deviation of their ratings, ties together"
_APART = (
    "Wasserstein: how many points a rating would have to be moved, on average; total variation: the share of ratings "
    "that would have to change; by story: the mean of the distance within each story"
)


def tables(result: Repeats) -> list[Table]:
    """Agreement by number of repeats, way to combine them, and disagreement among people; then the distributions."""
    most = max((row.k for row in result.counts), default=0)
    columns = _first(result)
    printed = [
        Table(
            "Kendall's tau-b with people by number of repeats",
            [*columns, Column("k", "repeats"), _tau("value"), _tau("predicted", "predicted"), *_last("subsets")],
            [
                {**_about(row.subject), **cells_of(row, "k", "value", "predicted")}
                | {"n": row.value.n, "subsets": row.subsets}
                for row in result.counts
            ],
            result.signature,
            [*result.notes, _BY_COUNT],
            first=frozenset(i for i, row in enumerate(result.counts) if row.k == most),
        ),
        Table(
            "Kendall's tau-b with people by how repeats are combined",
            [*columns, Column("how", "summed by"), _tau("value"), _tau("over", "minus mean"), *_last()],
            [{**_about(row.subject), **cells_of(row, "how", "value", "over"), "n": row.stories} for row in result.sums],
            "",
            [_BY_SUM],
        ),
        Table(
            "Kendall's tau-b by people's disagreement",
            [*_first(result), *titled(name="stories on which", spread="people's SD"), _tau("value"), *_last()],
            [
                {**_about(row.subject), **cells_of(row, "name", "spread", "value"), "n": row.stories}
                for row in result.strata
            ],
            "",
            [_BY_STRATUM],
        ),
    ]
    return [*printed, _apart(result)]


def _apart(result: Repeats) -> Table:
    columns = [
        *_first(result),
        *titled(
            mean="mean, judge minus people",
            wasserstein="Wasserstein distance",
            variation="total variation",
            by_story="Wasserstein by story",
            n="stories",
        ),
    ]
    rows = [
        {**_about(row.subject), **cells_of(row, "mean", "wasserstein", "variation")}
        | {"by_story": row.by_story, "n": row.mean.n}
        for row in result.apart
    ]
    return Table("Distributions of judges' and people's ratings", columns, rows, "", [_APART])


def _about(subject: Subject) -> dict[str, Any]:
    return {name: subject.labels[name] for name in ("dataset", "run", "criterion", "judge", "eval_prompt", "against")}


def _first(result: Repeats) -> list[Column]:
    subjects = [row.subject for row in result.apart]
    several: Sequence[tuple[str, set[Any]]] = [
        (name, {s.labels[name] for s in subjects}) for name in ("dataset", "run")
    ]
    columns = [Column(name, name) for name, values in several if len(values) > 1]
    columns += plain("criterion", "judge", "eval_prompt")
    if any(subject.against not in (None, subject.criterion) for subject in subjects):
        columns.append(Column("against", "against people's"))
    return columns


def _tau(key: str, title: str = "tau-b") -> Column:
    return Column(key, f"{title} x100", digits=1, factor=100)


def _last(*more: str) -> list[Column]:
    return [Column("n", "stories"), *(Column(name, name) for name in more)]
