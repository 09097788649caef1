"""Result of the analysis of panels: agreement within and between panels, and of judges with each panel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from judge.analysis.inputs.candidates import Subject
from judge.analysis.options.signature import Signed
from judge.analysis.options.table_options import CorrelationOptions
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table, cells_of, plain

Verdict = Literal["opposite", "differ", "not told apart"]


@dataclass(frozen=True, slots=True)
class Within:
    """Agreement among one panel's people on one criterion; `raters` is None if unknown. `icc` holds the forms that
    these ratings allow, `alpha` is Krippendorff's at interval level, `ceiling` that of one person with the mean of the
    others.
    """

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
    one criterion or as mean over `averaged` ones.
    """

    subject: Subject
    first: PanelSide
    other: PanelSide
    over: Estimate
    stories: int
    averaged: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict | None:
        """``opposite``: the intervals of both agreements exclude 0, with opposite signs. Otherwise, ``differ``: the
        interval of the difference excludes 0; ``not told apart``: it includes 0; None: it does not exist.
        """
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
        return self.signed([dict(row) for row in self._rows()], _COLUMNS)

    def _rows(self) -> Iterator[Iterator[tuple[str, object]]]:
        for row in self.against:
            yield _flat(row.subject, "all", None, row.pooled)
            yield from (_flat(row.subject, side.panel, None, side.value) for side in row.sides)
        for pair in self.differences:
            yield _flat(pair.subject, pair.first.panel, pair, pair.over)


_COLUMNS = ["dataset", "run", "judge", "eval_prompt", "criterion", "against", "panel", "other", "value", "low", "high"]
_COLUMNS += ["n", "method", "reason", "verdict"]


def _flat(subject: Subject, panel: str, difference: Difference | None, value: Estimate) -> Iterator[tuple[str, object]]:
    yield from ((name, label) for name, label in subject.labels.items() if name in _COLUMNS)
    yield from (
        ("panel", panel),
        ("other", difference and difference.other.panel),
        ("verdict", difference and difference.verdict),
    )
    yield from (("value", value.value), ("low", value.low), ("high", value.high), ("n", value.n))
    yield from (("method", value.method), ("reason", value.reason))


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
        Column("single", "ICC(1,1)"),
        Column("mean", "ICC(1,k)"),
        Column("alpha", "alpha"),
        _correlation("ceiling", "people, leave one out x100"),
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
        Column("criterion", "criterion"),
        Column("one", "panel"),
        Column("other", "and"),
        _correlation("value", "correlation of means x100"),
        Column("higher", "first minus second"),
        Column("stories", "stories"),
    ]
    rows = [
        {
            **cells_of(row, "dataset", "criterion", "other", "value", "higher", "stories"),
            "one": row.first,
        }
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
        Column("one", "panel"),
        Column("other", "and"),
        _correlation("first", "first x100"),
        _correlation("second", "second x100"),
        _correlation("over", "difference x100"),
        Column("stories", "stories"),
        Column("verdict", "panels"),
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
