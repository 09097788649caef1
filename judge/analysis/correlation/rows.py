"""The rows of a correlation table for one dataset: ceiling, judges, control, and their means over criteria.

All rows are on the same stories' resamples, so that differences between rows are paired. Never hides what was lost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import pandas as pd

from judge.analysis.correlation.intervals import Intervals
from judge.analysis.correlation.statistic import Floats, Side, Statistic
from judge.analysis.matching import Match
from judge.analysis.options import CorrelationOptions
from judge.rating_matrix import RatingMatrix
from judge.stats import ceiling
from judge.stats.correlation import fisher_z
from judge.stats.estimate import Estimate

CEILING, CONTROL = "people, leave one out", "control, not a language model"
JUDGE, MEAN = "judge", "mean"


class ControlPredictions(Protocol):
    """Out-of-fold ratings of the control judge, aligned with the stories given, NaN = none; and how they were made."""

    @property
    def values(self) -> Floats: ...
    @property
    def how(self) -> str: ...
    @property
    def reason(self) -> str | None: ...


Predict = Callable[[pd.DataFrame, "pd.Series[float]", str], ControlPredictions]
"""From stories (`text, story_prompt, system`, features), people's mean ratings and a criterion to control ratings."""


OUT_OF_FOLD, SHIPPED = "out of fold", "shipped model"
"""How a control was made, as its label says it; the shipped model was fitted on other stories."""


def control_label(hows: Iterable[str]) -> str:
    """The control's name with how it was made, from `ControlPredictions.how` of all its criteria."""
    known = dict.fromkeys(words for how in hows if (words := _how_words(how)))
    return f"{CONTROL} ({' or '.join(known)})" if known else CONTROL


def control_note(how: str) -> str | None:
    """What is to be said of a control that was not refitted on the stories at hand."""
    if _how_words(how) != SHIPPED:
        return None
    return "control: the shipped model, fitted on other stories, since too few of these are rated to refit it"


def _how_words(how: str) -> str | None:
    return {"surface:refit": OUT_OF_FOLD, "surface:shipped": SHIPPED}.get(re.split("[/@]", how, maxsplit=1)[0])


@dataclass(frozen=True, slots=True)
class Row:
    """One row: what it is about, the correlation, the correlation given a third variable, repeats lost by cause."""

    kind: str
    criterion: str
    estimate: Estimate
    labels: Mapping[str, Any]
    missing: Mapping[str, int] = field(default_factory=dict)
    given: Estimate | None = None
    resampled: tuple[Floats, ...] = field(default=(), repr=False, compare=False)
    given_resampled: tuple[Floats, ...] = field(default=(), repr=False, compare=False)


@dataclass(slots=True)
class Remarks:
    """What the rows have to say beside numbers: notes in sentences, and parts of the signature; each once."""

    notes: dict[str, None] = field(default_factory=dict)
    made: dict[str, None] = field(default_factory=dict)


class DatasetRows:
    """One dataset's rows: holds the resamples that all of them share."""

    def __init__(
        self, matrix: RatingMatrix, options: CorrelationOptions, predict: Predict | None, remarks: Remarks
    ) -> None:
        self.matrix, self.remarks = matrix, remarks
        self.predict = predict if options.control else None
        self.statistic = Statistic(options.coefficient, options.level, matrix.system, matrix.story_prompt)
        self.intervals = Intervals.of(matrix, options, self.statistic)
        remarks.notes.update(dict.fromkeys(self.intervals.notes))
        self.third = _third(matrix, options.given)
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
        matrix, name = self.matrix, self.matrix.criteria[j]
        cells = [i for i, partner in enumerate(found.partner) if partner == j]
        if not cells and matrix.cells:
            return
        people = Side(matrix.people[j], matrix.people_codes[j])
        yield self._ceiling(j, people)
        # All judges of a criterion in one sweep over the resamples.
        values = self.intervals.values(matrix.judge[cells], people.values) if cells else ()
        for at, i in enumerate(cells):
            judge = Side(matrix.judge[i], matrix.judge_codes[i])
            labels = self._cell_labels(i) | {"against": name} | self._counts(judge, people)
            row = Row(
                JUDGE, matrix.cells[i].criterion, self.statistic.estimate(judge, people), labels, matrix.missing[i]
            )
            yield self._measured(row, judge, people, tuple(one[at] for one in values))
        if self.predict is not None:
            yield self._control(j, name, people)

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
        return replace(row, given=self.intervals.of_values(given, values), given_resampled=values)

    def _ceiling(self, j: int, people: Side) -> Row:
        raters = self.matrix.by_rater(j)
        resampled: tuple[Floats, ...] = ()
        if raters.known:
            found = ceiling.one_against_others(raters.ratings)
            estimate = found.estimate(lambda x, y: self.statistic.estimate(Side.of(x), Side.of(y)))
            if estimate.defined:
                resampled = tuple(
                    found.values(lambda x, y, one=one: self.statistic.resampled(x, y, one))  # type: ignore[misc]
                    for one in self.intervals.sets
                )
                estimate = self.intervals.of_values(estimate, resampled)
        else:
            estimate = Estimate.undefined(f"human ceiling unavailable: {raters.reason}")
        labels = self._people_labels(CEILING, j) | self._counts(people, people)
        return Row("ceiling", self.matrix.criteria[j], estimate, labels, resampled=resampled)

    def _control(self, j: int, name: str, people: Side) -> Row:
        stories, labels = self.matrix.stories, self._people_labels(CONTROL, j)
        known = stories["text"].astype(bool).any() or len(self.matrix.features.columns)
        if self.predict is None or not known:
            estimate = Estimate.undefined("control unavailable: the stories' texts are not in the result folder")
            return Row("control", name, estimate, labels | self._counts(people, people))
        made = self.predict(stories, pd.Series(people.values, index=stories.index), name)
        self._hows[made.how] = None
        self.remarks.made[f"control:{made.how}"] = None
        for note in (control_note(made.how), made.reason and f"control: {made.reason}"):
            if note:
                self.remarks.notes[note] = None
        control = Side.of(np.asarray(made.values, dtype=np.float64))
        row = Row("control", name, self.statistic.estimate(control, people), labels | self._counts(control, people))
        return self._measured(row, control, people, self.intervals.values(control.values, people.values))

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
        row = Row(MEAN, name, estimate, labels, missing, resampled=values)
        if self.third is None or group[0].given is None:
            return row
        parts = [(one.criterion, one.given, one.given_resampled) for one in group if one.given is not None]
        given, values = mean_of(parts)
        return replace(row, given=self.intervals.of_values(given, values))

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


def _third(matrix: RatingMatrix, given: str | None) -> tuple[str, Side] | None:
    """The variable that partial correlations hold fixed: the stories' length in words, or an imported feature."""
    from judge.errors import SpecError, unknown

    if given is None:
        return None
    features = {str(name): matrix.features[name].to_numpy(dtype=np.float64) for name in matrix.features.columns}
    words = matrix.stories["words"].to_numpy(dtype=np.float64)
    if not np.isnan(words).all():
        features["length"] = words
    if given not in features:
        if not features:
            raise SpecError(
                f"--given {given}: nothing is known of the stories of {matrix.dataset} but their ratings",
                hint="import them with imported_stories.csv (dataset, story, words, features)",
            )
        raise SpecError(unknown("--given", given, features))
    return f"the stories' {given}", Side.of(features[given])
