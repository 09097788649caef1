"""Result types of the analysis of panels: agreement within and between panels, and of judges with each panel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from judge.analysis.inputs.candidates import Subject
from judge.analysis.options.signed import Signed
from judge.analysis.options.table_options import CorrelationOptions
from judge.base.estimate import Estimate

Verdict = Literal["opposite", "differ", "not told apart"]


@dataclass(frozen=True, slots=True)
class Within:
    """Agreement among the people of one panel on one criterion.

    `icc` holds the forms of the ICC that these ratings allow. `alpha` is Krippendorff's alpha at interval level.
    `ceiling` is the agreement of one person with the mean of the other people of the panel. `raters` is the number of
    people, None where unknown.
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
    """Agreement between two panels' mean ratings on the stories that both rated.

    `higher` is the mean of `first` - `other` in points.
    """

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
    """Agreement of a judge with all people and with each panel, on one criterion.

    If `averaged` names criteria, the row is a mean over these.
    """

    subject: Subject
    pooled: Estimate
    sides: tuple[PanelSide, ...]
    averaged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """Agreement of a judge with two panels on the same stories, and the paired difference `over`, first minus second
    panel.

    The second panel is `other`. If `averaged` names criteria, the row is a mean over these.
    """

    subject: Subject
    first: PanelSide
    other: PanelSide
    over: Estimate
    stories: int
    averaged: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict | None:
        """What the intervals show about a judge's agreement with two panels; None if they allow no statement.

        ``opposite``: the intervals of the agreement with each panel exclude 0, with opposite signs. Otherwise,
        ``differ``: the interval of the difference excludes 0; ``not told apart``: it includes 0; None: the difference
        has no interval.
        """
        signs = [_sign(side.value) for side in (self.first, self.other)]
        if signs[0] * signs[1] < 0:
            return "opposite"
        if self.over.low is None:
            return None
        return "differ" if _sign(self.over) else "not told apart"


def _sign(estimate: Estimate) -> int:
    """1 if the interval lies above 0, -1 if it lies below 0, else 0."""
    if estimate.low is None or estimate.high is None:
        return 0
    return int(estimate.low > 0) - int(estimate.high < 0)


@dataclass(frozen=True, slots=True, eq=False)
class Panels(Signed):
    """Results for all panels of raters: agreement within and between panels, and of judges with each panel.

    Each tuple is ordered by dataset, then by criterion.
    """

    names: tuple[str, ...]
    within: tuple[Within, ...]
    between: tuple[Between, ...]
    against: tuple[Against, ...]
    differences: tuple[Difference, ...]
    options: CorrelationOptions

    @property
    def frame(self) -> pd.DataFrame:
        """A long frame of judges' agreement with people: one row per judge, criterion and panel (``all``, then each
        panel).

        Further rows hold the difference between a judge's agreement with two panels, `panel` minus `other`. `attrs`
        hold `signature` and `notes`.
        """
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
