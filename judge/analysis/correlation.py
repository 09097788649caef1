"""How far a judge's ratings follow people's: the correlation table. Never hides what was lost.

For every judge x Eval-Prompt x criterion one row, with the human ceiling above and the control judge's row beneath, all
on the same stories and with intervals from one set of resamples, so that differences between rows are paired.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.analysis.matching import Match, match
from judge.analysis.options import CorrelationOptions
from judge.analysis.signature import signature
from judge.rating_matrix import RatingMatrix, build
from judge.stats import ceiling, correlation, kendall, resample
from judge.stats.estimate import Estimate
from judge.tables import Column, Table

if TYPE_CHECKING:
    from judge.ratings_table import RatingsTable

Floats = NDArray[np.float64]
CEILING, CONTROL, JUDGE = "people, leave one out", "control, not a language model (out of fold)", "judge"
_JUDGE_SIDE, _PEOPLE_SIDE = "the judge's ratings", "the people's ratings"
_MIN_UNITS = 5
"""With fewer units to resample a percentile interval says more about the number of units than about the judge."""


class ControlPredictions(Protocol):
    """Out-of-fold ratings of the control judge, aligned with the stories given, NaN = none; and how they were made."""

    @property
    def values(self) -> Floats: ...
    @property
    def how(self) -> str: ...
    @property
    def reason(self) -> str | None: ...


Predict = Callable[[pd.DataFrame, "pd.Series[float]", str], ControlPredictions]
"""From stories (`text, story_prompt, system`), people's mean ratings and a criterion to the control's ratings."""


@dataclass(frozen=True, slots=True)
class _Row:
    kind: str
    criterion: str
    estimate: Estimate
    labels: Mapping[str, Any]
    missing: Mapping[str, int]


def correlate(
    table: RatingsTable, options: CorrelationOptions | None = None, *, predict: Predict | None = None
) -> pd.DataFrame:
    """Correlations of every judge cell with people, with the ceiling and the control's row.

    Parameters
    ----------
    table : RatingsTable
    options : CorrelationOptions
        Coefficient, level, systems to drop, interval; see there.
    predict : callable, optional
        Gives the control's out-of-fold ratings; None = no control row.

    Returns
    -------
    DataFrame
        `dataset, kind` (judge, ceiling or control), `run, judge, eval_prompt, criterion, against, value, low, high, n,
        stories, systems, repeats, unrated, missing, method, reason`. `n` counts what the correlation is over (stories,
        systems or groups), `unrated` asked stories without a judge's rating, `missing` repeats by cause. Undefined
        values are null with a reason.
    """
    options = options or CorrelationOptions()
    rows, _, _ = _all_rows(build(table, drop_systems=options.drop_systems), options, predict)
    flat = [
        {
            **row.labels,
            "kind": row.kind,
            "value": row.estimate.value,
            "low": row.estimate.low,
            "high": row.estimate.high,
            "n": row.estimate.n,
            "missing": _causes(row.missing),
            "method": row.estimate.method,
            "reason": row.estimate.reason,
        }
        for row in rows
    ]
    names = ["dataset", "kind", "run", "judge", "eval_prompt", "criterion", "against", "value", "low", "high", "n"]
    return pd.DataFrame(
        flat, columns=[*names, "stories", "systems", "repeats", "unrated", "missing", "method", "reason"]
    )


def tables(
    table: RatingsTable, options: CorrelationOptions | None = None, *, predict: Predict | None = None
) -> list[Table]:
    """The correlation table as printed, with its signature."""
    options = options or CorrelationOptions()
    matrices = build(table, drop_systems=options.drop_systems)
    rows, notes, made = _all_rows(matrices, options, predict)
    title = {"kendall": "Kendall's tau-b", "spearman": "Spearman's rho", "pearson": "Pearson's r"}[options.coefficient]
    printed = [
        {**row.labels, "value": row.estimate, "n": row.estimate.n, "missing": _causes(row.missing)} for row in rows
    ]
    several = len(matrices) > 1
    columns = [Column("dataset", "dataset")] if several else []
    columns += [Column("criterion", "criterion"), Column("judge", "judge"), Column("eval_prompt", "eval prompt")]
    if any(row["against"] not in (None, row["criterion"]) for row in printed):
        columns.append(Column("against", "against people's"))
    columns += [Column("value", f"{title} x100", digits=1, factor=100), Column("n", _unit(options))]
    if options.level != "overall":
        columns.append(Column("stories", "stories"))
    columns += [Column("repeats", "repeats", digits=1), Column("unrated", "unrated"), Column("missing", "repeats lost")]
    facts = [note for fact in table.facts for note in fact.notes]
    line = signature(table, matrices, options, extra=made)
    where = {"overall": "over all stories", "system": "over system means"}.get(
        options.level, f"averaged {options.level}"
    )
    return [Table(f"{title} with people, {where}", columns, printed, line, tuple(dict.fromkeys([*facts, *notes])))]


def _all_rows(
    matrices: Sequence[RatingMatrix], options: CorrelationOptions, predict: Predict | None
) -> tuple[list[_Row], list[str], list[str]]:
    notes: dict[str, None] = {}
    made: dict[str, None] = {}
    rows: list[_Row] = []
    for matrix in matrices:
        found = match(matrix, options.against)
        notes.update(dict.fromkeys(found.notes))
        rows += _Correlator(matrix, options, predict, notes, made).rows(found)
    if options.level == "system":
        few = [m for m in matrices if len(m.systems) < 10]
        notes.update({f"{m.dataset}: {len(m.systems)} systems prove little at system level": None for m in few})
    if options.interval.startswith("boot"):
        unit = "story-prompts" if options.interval == "boot-inputs" else "stories"
        notes[f"intervals: percentile, {options.resamples} resamples of {unit}, the same for every row"] = None
    return rows, list(notes), list(made)


class _Correlator:
    """One dataset's rows: holds the resamples that all of them share."""

    def __init__(
        self,
        matrix: RatingMatrix,
        options: CorrelationOptions,
        predict: Predict | None,
        notes: dict[str, None],
        made: dict[str, None],
    ) -> None:
        self.matrix, self.options, self.notes, self.made = matrix, options, notes, made
        self.predict = predict if options.control else None
        self.resamples = self._draw()

    def rows(self, found: Match) -> Iterator[_Row]:
        """Criterion by criterion of the people: ceiling, judges, control; last, criteria that nobody rated."""
        for j, name in enumerate(self.matrix.criteria):
            cells = [i for i, partner in enumerate(found.partner) if partner == j]
            if not cells and self.matrix.cells:
                continue
            yield self._ceiling(j)
            for i in cells:
                yield self._judge(i, j, name)
            if self.predict is not None:
                yield self._control(j, name)
        for i, partner in enumerate(found.partner):
            if partner is None:
                labels = self._cell_labels(i) | {"against": None, "stories": 0, "systems": 0}
                estimate = Estimate.undefined(found.reason or "nobody rated this criterion")
                yield _Row(JUDGE, self.matrix.cells[i].criterion, estimate, labels, self.matrix.missing[i])

    def _judge(self, i: int, j: int, against: str) -> _Row:
        matrix = self.matrix
        x, y = matrix.judge[i], matrix.people[j]
        codes = (matrix.judge_codes[i], matrix.people_codes[j])
        estimate = self._with_interval(self._estimate(x, y, codes), x, y, codes)
        labels = self._cell_labels(i) | {"against": against} | self._counts(x, y)
        return _Row(JUDGE, matrix.cells[i].criterion, estimate, labels, matrix.missing[i])

    def _ceiling(self, j: int) -> _Row:
        raters = self.matrix.by_rater(j)
        if raters.known:
            estimate = ceiling.leave_one_out(raters.ratings, lambda x, y: self._estimate(x, y, None))
        else:
            estimate = Estimate.undefined(f"human ceiling unavailable: {raters.reason}")
        y = self.matrix.people[j]
        return self._people_row("ceiling", CEILING, j, estimate, self._counts(y, y))

    def _control(self, j: int, name: str) -> _Row:
        matrix = self.matrix
        y = matrix.people[j]
        stories = matrix.stories[["text", "story_prompt", "system"]]
        predict = self.predict
        if predict is None or not stories["text"].astype(bool).any():
            estimate = Estimate.undefined("control unavailable: the stories' texts are not in the result folder")
            return self._people_row("control", CONTROL, j, estimate, self._counts(y, y))
        made = predict(stories, pd.Series(y, index=stories.index), name)
        self.made[f"control:{made.how}"] = None
        if made.reason:
            self.notes[f"control: {made.reason}"] = None
        x = np.asarray(made.values, dtype=np.float64)
        codes = (kendall.codes(x), matrix.people_codes[j])
        estimate = self._with_interval(self._estimate(x, y, codes), x, y, codes)
        return self._people_row("control", CONTROL, j, estimate, self._counts(x, y))

    def _estimate(self, x: Floats, y: Floats, codes: tuple[kendall.Codes, kendall.Codes] | None) -> Estimate:
        coefficient, level, matrix = self.options.coefficient, self.options.level, self.matrix
        names = (_JUDGE_SIDE, _PEOPLE_SIDE)
        if level == "system":
            return correlation.correlate_means(x, y, matrix.system, coefficient, names=names)
        if level != "overall":
            return correlation.correlate_within(x, y, self._group(), coefficient)
        if coefficient == "kendall" and codes is not None:
            keep = ~(np.isnan(x) | np.isnan(y))
            reason = correlation.undefined_reason(x[keep], y[keep], names, "stories")
            n = int(keep.sum())
            return Estimate.undefined(reason, n=n) if reason else Estimate(kendall.tau_b(*codes), n=n)
        return correlation.correlate(x, y, coefficient, names=names, unit="stories")

    def _with_interval(
        self, estimate: Estimate, x: Floats, y: Floats, codes: tuple[kendall.Codes, kendall.Codes]
    ) -> Estimate:
        how, coefficient, level = self.options.interval, self.options.coefficient, self.options.level
        if how == "none" or not estimate.defined:
            return estimate
        if how == "fisher-z":
            return correlation.fisher_z(estimate)
        if self.resamples is None:
            return estimate
        if level == "overall" and coefficient == "kendall":
            statistic = kendall.weighted_tau_b(*codes)
        elif level == "overall":
            statistic = correlation.resampled(x, y, coefficient)
        elif level == "system":
            statistic = correlation.resampled_means(x, y, self.matrix.system, coefficient)
        elif level == "by-item" and how == "boot-inputs":
            statistic = correlation.resampled_whole(x, y, self._group(), coefficient)
        else:
            statistic = correlation.resampled_within(x, y, self._group(), coefficient)
        return resample.percentile(estimate, self.resamples.values(statistic), f"{how}, percentile, 95 %")

    def _draw(self) -> resample.Resamples | None:
        how = self.options.interval
        if not how.startswith("boot"):
            return None
        unit = self.matrix.story_prompt if how == "boot-inputs" else np.arange(self.matrix.n)
        if np.unique(unit).size < _MIN_UNITS:
            self.notes[f"{self.matrix.dataset}: no intervals, fewer than {_MIN_UNITS} story-prompts to resample"] = None
            return None
        return resample.draw(unit, self.options.resamples, np.random.default_rng(self.options.seed), how)

    def _group(self) -> kendall.Codes:
        return self.matrix.story_prompt if self.options.level == "by-item" else self.matrix.system

    def _counts(self, x: Floats, y: Floats) -> dict[str, Any]:
        keep = ~(np.isnan(x) | np.isnan(y))
        return {"stories": int(keep.sum()), "systems": int(np.unique(self.matrix.system[keep]).size)}

    def _cell_labels(self, i: int) -> dict[str, Any]:
        matrix, cell = self.matrix, self.matrix.cells[i]
        asked, valid = matrix.asked[i], matrix.valid[i]
        rated = valid[valid > 0]
        repeats = float(rated.mean()) if rated.size else 0.0
        unrated = int(((asked > 0) & (valid == 0)).sum())
        return {"dataset": matrix.dataset, **cell._asdict(), "repeats": repeats, "unrated": unrated}

    def _people_row(self, kind: str, label: str, j: int, estimate: Estimate, counts: Mapping[str, Any]) -> _Row:
        name = self.matrix.criteria[j]
        labels = {"dataset": self.matrix.dataset, "run": None, "judge": label, "eval_prompt": None, "criterion": name}
        labels |= {"against": name, "repeats": None, "unrated": None, **counts}
        return _Row(kind, name, estimate, labels, {})


def _causes(missing: Mapping[str, int]) -> str:
    return ", ".join(f"{status} {count}" for status, count in missing.items())


def _unit(options: CorrelationOptions) -> str:
    return {"overall": "stories", "system": "systems", "by-item": "story-prompts", "by-system": "systems"}[
        options.level
    ]
