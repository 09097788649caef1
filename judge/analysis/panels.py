"""Agreement within and between panels, and of judges with each panel; all from the same resamples of story-prompts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
import pandas as pd

from judge.analysis.correlation.correlations import Part, mean_of
from judge.analysis.correlation.reference_rows import OnePerson
from judge.analysis.correlation.statistic import Intervals, Side, Statistic
from judge.analysis.frames import parts_of
from judge.analysis.inputs.bars import Remarks
from judge.analysis.inputs.candidates import Subject, judge_cell, match, people_one_by_one
from judge.analysis.inputs.label_criteria import numbers
from judge.analysis.inputs.selection import of_panel, panels_of
from judge.analysis.options.choices import INTERVALS
from judge.analysis.options.signature import Signed, signature_parts
from judge.analysis.options.table_options import CorrelationOptions
from judge.analysis.reliability.consistency import people_family
from judge.base.arrays import Floats, ratio
from judge.base.errors import SpecError
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table, cells_of, plain, titled
from judge.base.wording import Advice
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.ratings.ratings_table import RatingsTable
from judge.stats.agreement import krippendorff

# Result of the analysis of panels: agreement within and between panels, and of judges with each panel.

Verdict = Literal["opposite", "differ", "not told apart"]


@dataclass(frozen=True, slots=True)
class Within:
    """Agreement among one panel's people on one criterion; `raters` is None if unknown. `icc` holds the forms that
    these ratings allow, `alpha` is Krippendorff's at interval level, `ceiling` that of one person with the mean of the
    others."""

    dataset: str
    panel: str
    criterion: str
    raters: int | None
    stories: int
    ratings: int
    icc: Mapping[str, Estimate]
    alpha: Estimate
    ceiling: Estimate


@dataclass(frozen=True, slots=True)
class Between:
    """Agreement of two panels on the stories that both rated; `higher` is the mean of `first` - `other` in points."""

    dataset: str
    criterion: str
    first: str
    other: str
    stories: int
    value: Estimate
    higher: Estimate


@dataclass(frozen=True, slots=True)
class PanelSide:
    """Agreement of a judge with one panel, on all stories that both rated."""

    panel: str
    value: Estimate


@dataclass(frozen=True, slots=True)
class Against:
    """Agreement of a judge with all people and with each panel, on one criterion or as mean over `averaged` ones."""

    subject: Subject
    pooled: Estimate
    sides: tuple[PanelSide, ...]
    averaged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """Agreement of a judge with two panels on the same stories, and the paired difference `over`, first minus other, on
    one criterion or as mean over `averaged` ones."""

    subject: Subject
    first: PanelSide
    other: PanelSide
    over: Estimate
    stories: int
    averaged: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict | None:
        """``opposite``: the intervals of both agreements exclude 0, with opposite signs. Otherwise, ``differ``: the
        interval of the difference excludes 0; ``not told apart``: it includes 0; None: it does not exist."""
        signs = [_sign(side.value) for side in (self.first, self.other)]
        if signs[0] * signs[1] < 0:
            return "opposite"
        if self.over.low is None:
            return None
        return "differ" if _sign(self.over) else "not told apart"


def _sign(estimate: Estimate) -> int:
    """1 if the interval lies above 0, -1 if below, else 0."""
    if estimate.low is None or estimate.high is None:
        return 0
    return int(estimate.low > 0) - int(estimate.high < 0)


@dataclass(frozen=True, slots=True, eq=False)
class Panels(Signed):
    """Agreement within and between panels, and of judges with panels, each by dataset, then by criterion."""

    names: tuple[str, ...]
    within: tuple[Within, ...]
    between: tuple[Between, ...]
    against: tuple[Against, ...]
    differences: tuple[Difference, ...]
    options: CorrelationOptions

    @property
    def frame(self) -> pd.DataFrame:
        """One row per judge, criterion and panel (``all``, then each); then differences, `panel` minus `other`."""
        return self.signed(self._rows(), _COLUMNS)

    def _rows(self) -> Iterator[dict[str, object]]:
        for row in self.against:
            yield _flat(row.subject, "all", None, row.pooled)
            yield from (_flat(row.subject, side.panel, None, side.value) for side in row.sides)
        for pair in self.differences:
            yield _flat(pair.subject, pair.first.panel, pair, pair.over)


_COLUMNS = ["dataset", "run", "judge", "eval_prompt", "criterion", "against", "panel", "other", "value", "low", "high"]
_COLUMNS += ["n", "method", "reason", "verdict"]


def _flat(subject: Subject, panel: str, difference: Difference | None, value: Estimate) -> dict[str, object]:
    labels = {name: label for name, label in subject.labels.items() if name in _COLUMNS}
    labels |= {"panel": panel, "other": difference and difference.other.panel}
    return labels | parts_of(value) | {"verdict": difference and difference.verdict}


# Printed tables of agreement within and between panels, and of judges with panels.

_SAME = (
    "differences stand on the stories that the judge and both panels rated, drawn together: an interval that leaves 0 "
    "out is called differ; opposite says that the intervals of both correlations lie on either side of 0"
)
_ONE = (
    "icc: ICC(1,1) of one rating and ICC(1,k) of a story's mean, F intervals; alpha: Krippendorff's, interval level, "
    "resampled stories; both take stories as independent"
)


def tables(result: Panels) -> list[Table]:
    """Agreement within panels, between panels, and of judges with panels, with the differences between panels."""
    return [_within(result), _between(result), _against(result), _differences(result)]


def _dataset(result: Panels) -> list[Column]:
    names = {row.dataset for row in result.within}
    return [Column("dataset", "dataset")] if len(names) > 1 else []


def _correlation(key: str, title: str) -> Column:
    return Column(key, title, digits=1, factor=100)


def _within(result: Panels) -> Table:
    columns = [
        *_dataset(result),
        *plain("criterion", "panel", "raters", "stories", "ratings"),
        *titled(single="ICC(1,1)", mean="ICC(1,k)", alpha="alpha"),
        _correlation("ceiling", "one more person x100"),
    ]
    rows = [
        {
            **cells_of(row, "dataset", "criterion", "panel", "raters", "stories", "ratings", "alpha", "ceiling"),
            "single": row.icc.get("ICC(1,1)"),
            "mean": row.icc.get("ICC(1,k)"),
        }
        for row in result.within
    ]
    return Table("Agreement within panels", columns, rows, result.signature, [*result.notes, _ONE])


def _between(result: Panels) -> Table:
    columns = [
        *_dataset(result),
        *titled(criterion="criterion", one="panel", other="and"),
        _correlation("value", "correlation of means x100"),
        *titled(higher="first minus second", stories="stories"),
    ]
    rows = [
        {**cells_of(row, "dataset", "criterion", "other", "value", "higher", "stories"), "one": row.first}
        for row in result.between
    ]
    return Table("Agreement between panels", columns, rows, "")


def _about(subject: Subject) -> dict[str, Any]:
    return {name: subject.labels[name] for name in ("dataset", "judge", "eval_prompt", "criterion", "against")}


def _first(result: Panels) -> list[Column]:
    subjects = [row.subject for row in result.against]
    columns = [*_dataset(result), *plain("criterion", "judge")]
    columns.append(Column("eval_prompt", "eval prompt"))
    if any(subject.against not in (None, subject.criterion) for subject in subjects):
        columns.append(Column("against", "against people's"))
    return columns


def _against(result: Panels) -> Table:
    columns = [*_first(result), Column("people", "people"), _correlation("value", "correlation x100"), Column("n", "n")]
    return Table("Judges against each panel", columns, list(_sides(result)), "")


def _sides(result: Panels) -> Iterator[dict[str, Any]]:
    for row in result.against:
        for name, value in (("all", row.pooled), *((side.panel, side.value) for side in row.sides)):
            yield {**_about(row.subject), "people": name, "value": value, "n": value.n}


def _differences(result: Panels) -> Table:
    columns = [
        *_first(result),
        *titled(one="panel", other="and"),
        _correlation("first", "first x100"),
        _correlation("second", "second x100"),
        _correlation("over", "difference x100"),
        *titled(stories="stories", verdict="panels"),
    ]
    rows = [
        {
            **_about(row.subject),
            "one": row.first.panel,
            "other": row.other.panel,
            "first": row.first.value,
            "second": row.other.value,
            **cells_of(row, "over", "stories", "verdict"),
        }
        for row in result.differences
    ]
    return Table("Judges: differences between panels", columns, rows, "", [_SAME])


Values = tuple[Floats, ...]
Found = tuple[Estimate, Values]


def panels(table: RatingsTable, options: CorrelationOptions | None = None) -> Panels:
    """Every panel against every other, and every judge against each. Raises SpecError where no panel is known."""
    options, remarks = options or CorrelationOptions(), Remarks()
    table = numbers(table)
    names = panels_of(table)
    if not names:
        raise SpecError(
            "no rating of these runs says to which panel its rater belongs",
            hint=Advice("a dataset says it: {columns}", columns={"panel": "COLUMN"}),
        )
    matrices = build(table, drop_systems=options.drop_systems)
    parts = {name: build(of_panel(table, name), drop_systems=options.drop_systems) for name in names}
    remarks.note(table.notes)
    panel_sets = []
    for matrix in matrices:
        own = {name: next((m for m in parts[name] if m.dataset == matrix.dataset), None) for name in names}
        panel_sets.append(_Dataset(matrix, {name: m for name, m in own.items() if m is not None}, options, remarks))
    against = [row for panel_set in panel_sets for row in panel_set.against()]
    return Panels(
        names=names,
        within=tuple(row for panel_set in panel_sets for row in panel_set.within()),
        between=tuple(row for panel_set in panel_sets for row in panel_set.between()),
        against=tuple(against),
        differences=tuple(row for panel_set in panel_sets for row in panel_set.differences()),
        options=options,
        signature_parts=signature_parts(
            table, matrices, options, extra=[f"panels:{','.join(names)}", "alpha:boot-items"]
        ),
        notes=tuple(remarks.notes),
    )


class _Dataset:
    """One dataset with each panel's ratings; all arrays are indexed by the stories of the whole dataset."""

    def __init__(
        self, matrix: RatingMatrix, panels: dict[str, RatingMatrix], options: CorrelationOptions, remarks: Remarks
    ) -> None:
        self.matrix, self.panels, self.options = matrix, panels, options
        self.statistic = Statistic.of(matrix, options)
        self.intervals = Intervals.of(matrix, options, self.statistic)
        self.pairs = match(matrix, options.against)
        self.means = [dict(self._means(j)) for j in range(len(matrix.criteria))]
        remarks.note([*self.pairs.notes, *self.intervals.notes])

    def _means(self, j: int) -> Iterator[tuple[str, Floats]]:
        row_of = {story: i for i, story in enumerate(self.matrix.stories["story"])}
        for name, panel in self.panels.items():
            k = self._criterion_index(panel, j)
            if k is not None:
                means = np.full(self.matrix.n, np.nan)
                means[[row_of[story] for story in panel.stories["story"]]] = panel.people[k]
                yield name, means

    def _criterion_index(self, panel: RatingMatrix, j: int) -> int | None:
        wanted = self.matrix.criteria[j]
        return panel.criteria.index(wanted) if wanted in panel.criteria else None

    def within(self) -> Iterator[Within]:
        for j in range(len(self.matrix.criteria)):
            for name, panel in self.panels.items():
                k = self._criterion_index(panel, j)
                if k is not None:
                    yield self._within(panel, k, name)

    def _within(self, panel: RatingMatrix, k: int, name: str) -> Within:
        raters = panel.by_rater(k)
        ratings = raters.ratings[~np.isnan(raters.ratings).all(axis=1)]
        rng = np.random.default_rng(self.options.seed)
        resamples = self.options.resamples if INTERVALS[self.options.interval].resampled else 0
        alpha = krippendorff.alpha(ratings, "interval", rng=rng, resamples=resamples).estimate
        statistic = Statistic.of(panel, self.options)
        intervals = Intervals.of(panel, self.options, statistic)
        stories = np.ones(panel.n, dtype=np.bool_)
        person = OnePerson(people_one_by_one(panel, k), stories, statistic, self.options.seed)
        ceiling = person.estimate
        if ceiling.defined:
            ceiling = intervals.of_values(ceiling, person.resampled(intervals))
        family = people_family(panel, k)
        return Within(
            self.matrix.dataset,
            name,
            panel.criteria[k],
            len(raters.names) if raters.known else None,
            len(ratings),
            int((~np.isnan(ratings)).sum()),
            {row.form: row.estimate for row in family.rows},
            alpha,
            ceiling,
        )

    def between(self) -> Iterator[Between]:
        for j, criterion in enumerate(self.matrix.criteria):
            for (panel, x), (other, y) in combinations(self.means[j].items(), 2):
                keep = ~(np.isnan(x) | np.isnan(y))
                names = (f"the ratings of {panel}", f"the ratings of {other}")
                value, _ = self._correlation(x, y, names)
                yield Between(self.matrix.dataset, criterion, panel, other, int(keep.sum()), value, self._higher(x - y))

    def _higher(self, difference: Floats) -> Estimate:
        """Mean difference of two panels' ratings of a story, with an interval; undefined if all are NaN."""
        defined = ~np.isnan(difference)
        if not defined.any():
            return Estimate.undefined("no story was rated by both panels")
        estimate = Estimate(float(difference[defined].mean()), n=int(defined.sum()))
        filled, present = np.where(defined, difference, 0.0), defined.astype(np.float64)
        drawn = (one.values(lambda weights: ratio(weights @ filled, weights @ present)) for one in self.intervals.sets)
        return self.intervals.of_values(estimate, tuple(drawn))

    def against(self) -> Iterator[Against]:
        groups: dict[tuple[str | None, ...], list[tuple[Subject, dict[str, Found]]]] = {}
        for i, j in enumerate(self.pairs.partner):
            if j is None:
                continue
            subject = judge_cell(self.matrix, i, self.matrix.criteria[j], None).subject
            judge = self.matrix.judge[i]
            sides = {"": self.matrix.people[j], **self.means[j]}
            correlations = {name: self._correlation(judge, people) for name, people in sides.items()}
            groups.setdefault((subject.run, subject.judge, subject.eval_prompt), []).append((subject, correlations))
            yield self._row(subject, {name: estimate for name, (estimate, _) in correlations.items()})
        for rows in groups.values():
            if len(rows) > 1:
                names = [name for name in rows[0][1] if all(name in correlations for _, correlations in rows)]
                means = {
                    name: self._mean([(s.criterion, *correlations[name]) for s, correlations in rows]) for name in names
                }
                yield self._row(_mean_subject(rows[0][0], len(rows)), means, tuple(s.criterion for s, _ in rows))

    def _row(self, subject: Subject, by_panel: dict[str, Estimate], averaged: tuple[str, ...] = ()) -> Against:
        sides = tuple(PanelSide(name, estimate) for name, estimate in by_panel.items() if name)
        return Against(subject, by_panel[""], sides, averaged)

    def differences(self) -> Iterator[Difference]:
        groups: dict[tuple[str | None, ...], list[tuple[Subject, tuple[Found, Found, Found], int]]] = {}
        for i, j in enumerate(self.pairs.partner):
            if j is None:
                continue
            subject = judge_cell(self.matrix, i, self.matrix.criteria[j], None).subject
            for (panel, x), (other, y) in combinations(self.means[j].items(), 2):
                correlations, stories = self._difference(self.matrix.judge[i], x, y)
                key = (panel, other, subject.run, subject.judge, subject.eval_prompt)
                groups.setdefault(key, []).append((subject, correlations, stories))
                a, b, over = (estimate for estimate, _ in correlations)
                yield Difference(subject, PanelSide(panel, a), PanelSide(other, b), over, stories)
        for (first, second, *_), rows in groups.items():
            if len(rows) > 1:
                a, b, over = (
                    self._mean([(s.criterion, *correlations[at]) for s, correlations, _ in rows]) for at in range(3)
                )
                mean, names = _mean_subject(rows[0][0], len(rows)), tuple(s.criterion for s, _, _ in rows)
                sides = PanelSide(str(first), a), PanelSide(str(second), b)
                yield Difference(mean, *sides, over, min(stories for *_, stories in rows), names)

    def _difference(self, judge: Floats, x: Floats, y: Floats) -> tuple[tuple[Found, Found, Found], int]:
        """First panel, second, first minus second, and number of stories (those that all three rated)."""
        keep = ~(np.isnan(judge) | np.isnan(x) | np.isnan(y))
        mine = np.where(keep, judge, np.nan)
        if not keep.any():
            none: Found = (Estimate.undefined("no story was rated by the judge and both panels"), ())
            return (none, none, none), 0
        first, second = self._correlation(mine, x), self._correlation(mine, y)
        if first[0].value is None or second[0].value is None:
            why = first[0].why if first[0].value is None else second[0].why
            return (first, second, (Estimate.undefined(why), ())), int(keep.sum())
        values = tuple(a - b for a, b in zip(first[1], second[1], strict=True))
        plain = Estimate(first[0].value - second[0].value, n=int(keep.sum()))
        return (first, second, (self.intervals.of_values(plain, values), values)), int(keep.sum())

    def _correlation(self, x: Floats, y: Floats, names: tuple[str, str] | None = None) -> Found:
        a, b = Side(x), Side(y)
        estimate = self.statistic.estimate(a, b, names) if names else self.statistic.estimate(a, b)
        if not estimate.defined:
            return estimate, ()
        values = self.intervals.values(x, y)
        return self.intervals.of_values(estimate, values), values

    def _mean(self, parts: list[Part]) -> Estimate:
        estimate, values = mean_of(parts)
        return self.intervals.of_values(estimate, values)


def _mean_subject(first: Subject, count: int) -> Subject:
    return replace(first, criterion=f"mean of {count} criteria", against=None)
