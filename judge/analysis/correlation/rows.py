"""The rows of a correlation table for one dataset: ceiling, judges, control, and their means over criteria.

All rows are on the same resamples of stories, so that differences between rows are paired. Ceiling and control stand
on the stories that at least one judge rated; where a judge lost some of these, its row says what people and control
reach on those that it kept. Never hides what was lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from judge.analysis.correlation import lost_ratings, readings
from judge.analysis.correlation.intervals import Intervals
from judge.analysis.correlation.reference_rows import Beside, Masks, OnePerson, beside_control
from judge.analysis.correlation.statistic import Floats, Side, Statistic
from judge.analysis.coverage import coverage
from judge.analysis.inputs.bars import CEILING, CONTROL, JUDGE, MEAN, Predict, Remarks, control_label, control_note
from judge.analysis.inputs.criterion_matching import Match
from judge.analysis.options.table_options import CorrelationOptions
from judge.errors import unknown_value
from judge.rating_matrix import RatingMatrix
from judge.stats.correlation.coefficients import fisher_z
from judge.stats.correlation.human_ceiling import DRAWS
from judge.stats.estimate import Estimate
from judge.wording import Advice

ONE_OUT, PEOPLE_SAME, CONTROL_SAME = "leave_one_out", "people_same", "control_same"
"""Further numbers of a row: judge or control against the means of the others, averaged over raters; people, leave one
out, and the control on this row's stories."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row: what it is about, the correlation, the correlation given a third variable, repeats lost by cause.

    Of a judge's row, `cell` is the matrix's cell and `share` what part of the stories that people rated it stands on.
    `further` holds numbers without intervals (`ONE_OUT`..., `lost_ratings.TITLES`), `beside` the distance from the
    bars.
    """

    kind: str
    criterion: str
    estimate: Estimate
    labels: Mapping[str, Any]
    missing: Mapping[str, int] = field(default_factory=dict)
    given: Estimate | None = None
    resampled: tuple[Floats, ...] = field(default=(), repr=False, compare=False)
    given_resampled: tuple[Floats, ...] = field(default=(), repr=False, compare=False)
    cell: int | None = None
    share: float | None = None
    further: Mapping[str, Estimate] = field(default_factory=dict)
    beside: Mapping[str, Beside] = field(default_factory=dict, repr=False, compare=False)


class DatasetRows:
    """One dataset's rows: holds the resamples that all of them share.

    With `paired`, judges' rows know their distance from ceiling and control, with resampled values. `scales` holds the
    ends of criteria's scales as far as they are known.
    """

    def __init__(
        self,
        matrix: RatingMatrix,
        options: CorrelationOptions,
        predict: Predict | None,
        remarks: Remarks,
        *,
        paired: bool = False,
        scales: Mapping[str, tuple[float, float]] | None = None,
    ) -> None:
        self.matrix, self.options, self.remarks, self.paired = matrix, options, remarks, paired
        self.predict = predict if options.control else None
        self.statistic = Statistic.of(matrix, options)
        self.intervals = Intervals.of(matrix, options, self.statistic)
        remarks.notes.update(dict.fromkeys(self.intervals.notes))
        remarks.made.update(dict.fromkeys(self.intervals.made))
        self.third = _third(matrix, options.given)
        self.scales = scales or {}
        self._hows: dict[str, None] = {}

    def all(self, found: Match) -> list[Row]:
        """Criterion by criterion of the people; then means over criteria; last, criteria that nobody rated."""
        rows = [row for j in range(len(self.matrix.criteria)) for row in self._criterion(j, found)]
        label = control_label(self._hows)
        rows = [replace(row, labels={**row.labels, "judge": label}) if row.kind == "control" else row for row in rows]
        rows += self._means(rows)
        for i, partner in enumerate(found.partner):
            if partner is None:
                labels = self._cell_labels(i) | {"against": None, "stories": 0, "systems": 0}
                estimate = Estimate.undefined(found.reason or "nobody rated this criterion")
                rows.append(Row(JUDGE, self.matrix.cells[i].criterion, estimate, labels, self.matrix.missing[i]))
        return rows

    def _criterion(self, j: int, found: Match) -> Iterator[Row]:
        matrix = self.matrix
        cells = [i for i, partner in enumerate(found.partner) if partner == j]
        if not cells and matrix.cells:
            return
        people = Side(matrix.people[j], matrix.people_codes[j])
        rated = _rated(matrix.judge[cells]) if cells else np.ones(matrix.n, dtype=np.bool_)
        one = OnePerson(matrix.by_rater(j), rated, self.statistic, self.options.seed)
        ceiling = self._ceiling(j, one)
        control, side = self._control(j, people, rated, one) if self.predict is not None else (None, None)
        yield ceiling
        yield from self._judges(j, cells, people, one, (ceiling, control, side))
        if control is not None:
            yield control

    def _judges(
        self, j: int, cells: list[int], people: Side, one: OnePerson, bars: tuple[Row, Row | None, Side | None]
    ) -> Iterator[Row]:
        """The judges' rows of one criterion of the people: all in one sweep over the resamples."""
        matrix, (ceiling, control, predicted) = self.matrix, bars
        values = self.intervals.values(matrix.judge[cells], people.values) if cells else ()
        sides = [readings.of_judge(matrix, i, self.options.readings) for i in cells]
        if one.ceiling is not None:
            self._say_readings(j, cells, one, ceiling)
        if self.paired:
            persons = iter(one.resampled_beside([side for side in sides if not isinstance(side, str)], self.intervals))
        else:
            persons = iter([one.beside(side)[0] for side in sides if not isinstance(side, str)])
        for at, i in enumerate(cells):
            judge, found = Side(matrix.judge[i], matrix.judge_codes[i]), sides[at]
            labels = self._cell_labels(i) | {"against": matrix.criteria[j]} | self._counts(judge, people)
            estimate = self.statistic.estimate(judge, people)
            share = labels["stories"] / max(1, int((~np.isnan(people.values)).sum()))
            row = Row(JUDGE, matrix.cells[i].criterion, estimate, labels, matrix.missing[i], cell=i, share=share)
            row = self._measured(row, judge, people, tuple(values_of[at] for values_of in values))
            beside = {"ceiling": Beside.undefined(found) if isinstance(found, str) else next(persons)}
            if control is not None and predicted is not None:
                beside["control"] = beside_control(
                    (judge, row.estimate, row.resampled),
                    (predicted, control.estimate, control.resampled),
                    people,
                    self.statistic,
                    self._values_against(people),
                )
            elif control is not None:
                beside["control"] = Beside.undefined(control.estimate.reason or "undefined")
            yield replace(row, beside=beside, further=self._further(i, judge, people, beside))

    def _further(self, i: int, judge: Side, people: Side, beside: Mapping[str, Beside]) -> dict[str, Estimate]:
        """A judge's numbers without intervals: beside one person and the control, and with what it lost."""
        further = {ONE_OUT: beside["ceiling"].judge[0], PEOPLE_SAME: beside["ceiling"].bar[0]}
        if "control" in beside:
            further[CONTROL_SAME] = replace(beside["control"].bar[0], low=None, high=None, method=None)
        gone = (self.matrix.asked[i] > 0) & np.isnan(judge.values) & ~np.isnan(people.values)
        ends = self.scales.get(self.matrix.cells[i].criterion) or coverage.observed_scale(self.matrix)
        return further | lost_ratings.with_lost(
            judge.values, gone, ends, lambda side: self.statistic.estimate(side, people)
        )

    def _values_against(self, people: Side) -> Callable[[Floats], tuple[Floats, ...]] | None:
        return (lambda x: self.intervals.values(x, people.values)) if self.paired else None

    def _say_readings(self, j: int, cells: list[int], one: OnePerson, ceiling: Row) -> None:
        """Notes on how many readings stand on each side, and on people who are a pool."""
        if ceiling.estimate.defined and cells:
            self.remarks.notes[readings.note(self.matrix, j, cells, one, self.options.readings)] = None
        if one.pool:
            self.remarks.made[f"pool:{DRAWS}/seed{self.options.seed}"] = None
            self.remarks.notes[readings.pool_note(self.matrix.dataset)] = None

    def _measured(self, row: Row, x: Side, y: Side, resampled: tuple[Floats, ...]) -> Row:
        """The row with its interval, and with the correlation given the third variable where one was asked for."""
        estimate = row.estimate
        estimate = (
            fisher_z(estimate) if self.intervals.how == "fisher-z" else self.intervals.of_values(estimate, resampled)
        )
        row = replace(row, estimate=estimate, resampled=resampled if estimate.defined else ())
        if self.third is None:
            return row
        given, values = self.statistic.given(x, y, self.third[1], self.third[0], self.intervals.sets)
        return replace(row, given=self.intervals.of_given(given, values), given_resampled=values)

    def _ceiling(self, j: int, one: OnePerson) -> Row:
        estimate = one.estimate
        resampled: tuple[Floats, ...] = ()
        plain = replace(estimate, method=None)
        if estimate.defined:
            resampled = one.resampled(self.intervals)
            estimate = self.intervals.of_values(estimate, resampled)
        on = Side.of(np.where(one.stories, 1.0, np.nan)) if one.stories is not None else Side.of(self.matrix.people[j])
        labels = self._people_labels(CEILING, j) | self._counts(on, on)
        return Row("ceiling", self.matrix.criteria[j], estimate, labels, resampled=resampled, further={ONE_OUT: plain})

    def _control(self, j: int, people: Side, rated: Masks, one: OnePerson) -> tuple[Row, Side | None]:
        """The control's row, on the stories that a judge rated, and its ratings of these."""
        name, stories, labels = self.matrix.criteria[j], self.matrix.stories, self._people_labels(CONTROL, j)
        known = stories["text"].astype(bool).any() or len(self.matrix.features.columns)
        if self.predict is None or not known:
            estimate = Estimate.undefined("control unavailable: the stories' texts are not in the result folder")
            return Row("control", name, estimate, labels | self._counts(people, people)), None
        made = self.predict(stories, pd.Series(people.values, index=stories.index), name)
        self._hows[made.how] = None
        self.remarks.made[f"control:{made.how}"] = None
        for note in (control_note(made.how), made.reason and f"control: {made.reason}"):
            if note:
                self.remarks.notes[note] = None
        predicted: Floats = np.where(rated, np.asarray(made.values, dtype=np.float64), np.nan)
        control = Side.of(predicted)
        row = Row("control", name, self.statistic.estimate(control, people), labels | self._counts(control, people))
        row = self._measured(row, control, people, self.intervals.values(predicted, people.values))
        return replace(row, further={ONE_OUT: one.beside([predicted])[0].judge[0]}), control

    def _means(self, rows: list[Row]) -> Iterator[Row]:
        """The mean over criteria of each judge cell, the ceiling and the control, where there are several criteria."""
        groups: dict[tuple[Any, ...], list[Row]] = {}
        for row in rows:
            key = (row.kind, row.labels["run"], row.labels["judge"], row.labels["eval_prompt"])
            groups.setdefault(key, []).append(row)
        order = {"ceiling": 0, JUDGE: 1, "control": 2}
        for _, group in sorted(groups.items(), key=lambda item: order[item[0][0]]):
            if len(group) > 1:
                yield self._mean(group)

    def _mean(self, group: list[Row]) -> Row:
        name = f"mean of {len(group)} criteria"
        against = {row.labels["against"] for row in group}
        labels = {**group[0].labels, "criterion": name, "against": against.pop() if len(against) == 1 else None}
        labels |= {key: min(row.labels[key] for row in group) for key in ("stories", "systems")}
        if group[0].labels["repeats"] is not None:
            labels["repeats"] = float(np.mean([row.labels["repeats"] for row in group]))
            labels["unrated"] = sum(row.labels["unrated"] for row in group)
        missing: dict[str, int] = {}
        for row in group:
            for status, count in row.missing.items():
                missing[status] = missing.get(status, 0) + count
        estimate, values = mean_of([(row.criterion, row.estimate, row.resampled) for row in group])
        estimate = self.intervals.of_values(estimate, values)
        row = Row(MEAN, name, estimate, labels, missing, resampled=values, further=_mean_further(group))
        if self.third is None or group[0].given is None:
            return row
        parts = [(one.criterion, one.given, one.given_resampled) for one in group if one.given is not None]
        given, values = mean_of(parts)
        return replace(row, given=self.intervals.of_given(given, values))

    def _counts(self, x: Side, y: Side) -> dict[str, Any]:
        keep = ~(np.isnan(x.values) | np.isnan(y.values))
        return {"stories": int(keep.sum()), "systems": int(np.unique(self.matrix.system[keep]).size)}

    def _cell_labels(self, i: int) -> dict[str, Any]:
        matrix, cell = self.matrix, self.matrix.cells[i]
        asked, valid = matrix.asked[i], matrix.valid[i]
        rated = valid[valid > 0]
        repeats = float(rated.mean()) if rated.size else 0.0
        unrated = int(((asked > 0) & (valid == 0)).sum())
        return {"dataset": matrix.dataset, **cell._asdict(), "repeats": repeats, "unrated": unrated}

    def _people_labels(self, label: str, j: int) -> dict[str, Any]:
        name = self.matrix.criteria[j]
        labels = {"dataset": self.matrix.dataset, "run": None, "judge": label, "eval_prompt": None, "criterion": name}
        return labels | {"against": name, "repeats": None, "unrated": None}


def mean_of(parts: list[tuple[str, Estimate, tuple[Floats, ...]]]) -> tuple[Estimate, tuple[Floats, ...]]:
    """The unweighted mean of estimates and of their resampled values; undefined where one of them is."""
    undefined = [(criterion, str(estimate.reason)) for criterion, estimate, _ in parts if estimate.value is None]
    if undefined:
        first = undefined[0][1]
        same = [criterion for criterion, reason in undefined if reason == first]
        who = f"all {len(parts)} criteria" if 1 < len(parts) == len(same) else same[0]
        return Estimate.undefined(f"undefined for {who} ({first})"), ()
    value = float(np.mean([estimate.value for _, estimate, _ in parts if estimate.value is not None]))
    found = Estimate(value, n=min(estimate.n for _, estimate, _ in parts))
    return found, tuple(np.mean(values, axis=0) for values in zip(*(values for _, _, values in parts), strict=True))


def _rated(judges: Floats) -> Masks:
    """Stories that at least one judge rated, of ratings (judges, n)."""
    return np.asarray((~np.isnan(judges)).any(axis=0), dtype=np.bool_)


def _mean_further(group: list[Row]) -> dict[str, Estimate]:
    """Means over criteria of the further numbers; a criterion that lost nothing has its own correlation there."""
    names = dict.fromkeys(name for row in group for name in row.further)
    return {
        name: mean_of([(row.criterion, row.further.get(name, row.estimate), ()) for row in group])[0] for name in names
    }


def _third(matrix: RatingMatrix, given: str | None) -> tuple[str, Side] | None:
    """The variable that partial correlations hold fixed: the stories' length in words, or an imported feature."""
    from judge.errors import SpecError

    if given is None:
        return None
    features = {str(name): matrix.features[name].to_numpy(dtype=np.float64) for name in matrix.features.columns}
    words = matrix.stories["words"].to_numpy(dtype=np.float64)
    if not np.isnan(words).all():
        features["length"] = words
    if given not in features:
        if not features:
            raise SpecError(
                Advice("{given}: nothing is known of the stories of {} but their ratings", matrix.dataset, given=given),
                hint="import them with imported_stories.csv (dataset, story, words, features)",
            )
        raise unknown_value("given", given, features)
    return f"the stories' {given}", Side.of(features[given])
