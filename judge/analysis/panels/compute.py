"""Agreement within and between panels, and of judges with each panel; all from the same resamples of story-prompts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from judge.analysis.correlation.correlations import Part, mean_of
from judge.analysis.correlation.reference_rows import OnePerson
from judge.analysis.correlation.statistic import Floats, Intervals, Side, Statistic
from judge.analysis.inputs.bars import Remarks
from judge.analysis.inputs.candidates import Subject, judge_cell, match, people_one_by_one
from judge.analysis.inputs.label_criteria import numbers
from judge.analysis.inputs.selection import of_panel, panels_of
from judge.analysis.options.choices import INTERVALS
from judge.analysis.options.signature import signature_parts
from judge.analysis.options.table_options import CorrelationOptions
from judge.analysis.panels.result import Against, Between, Difference, Panels, PanelSide, Within
from judge.analysis.reliability.consistency import people_family
from judge.base.arrays import Codes
from judge.base.errors import SpecError
from judge.base.estimate import Estimate
from judge.base.wording import Advice
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.stats.agreement import krippendorff

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RatingsTable

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
    remarks.note(note for fact in table.facts for note in fact.notes)
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
        self,
        matrix: RatingMatrix,
        panels: dict[str, RatingMatrix],
        options: CorrelationOptions,
        remarks: Remarks,
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
        filled = np.where(defined, difference, 0.0)

        def weighted(weights: Codes) -> Floats:
            with np.errstate(invalid="ignore", divide="ignore"):
                return np.asarray((weights @ filled) / (weights @ defined.astype(np.float64)), dtype=np.float64)

        return self.intervals.of_values(
            estimate, tuple(resample_set.values(weighted) for resample_set in self.intervals.sets)
        )

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
