"""Specification of a forest chart: estimates with intervals, a row for each source of ratings, a panel for each
criterion.

Reference values are drawn behind the rows: how well people agree with each other, and what the control reaches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judge.base.errors import SpecError
from judge.base.estimate import Estimate
from judge.base.wording import Advice
from judge.questions.charts import shared
from judge.questions.charts.shared import SIGNS, Sign

# Of the axis, what stays empty at either end.
_SPACE = 0.06


@dataclass(frozen=True, slots=True)
class Line:
    """One row: its group (e.g. a judge), its label (e.g. an Eval-Prompt or a system), and an estimate for each panel
    and, within it, each series. None = none is expected, and none missing. `sign` replaces those of the series.
    """

    group: str
    label: str
    cells: tuple[tuple[Estimate | None, ...], ...]
    sign: Sign | None = None

    @property
    def name(self) -> str:
        return ", ".join(part for part in (self.group, self.label) if part)


@dataclass(frozen=True, slots=True)
class Band:
    """A reference line with its interval behind all rows, with one estimate for each panel. `hatched` marks one that is
    not a ceiling, such as the control.
    """

    name: str
    estimates: tuple[Estimate, ...]
    hatched: bool = False

    @property
    def defined(self) -> bool:
        """Whether it is defined in at least one panel."""
        return any(estimate.defined for estimate in self.estimates)

    @property
    def wide(self) -> bool:
        """Whether it has at least one interval."""
        return any(estimate.low is not None and estimate.high is not None for estimate in self.estimates)


@dataclass(frozen=True, slots=True)
class Forest:
    """Specification of a forest chart, by rows (`lines`) and panels. `series` are the names and signs of the estimates
    within a row and panel, `bands` reference lines. Values are multiplied by `factor`; `axis` is their unit after that,
    one for all panels or one for each. `counted` names what n counts; if empty, tooltips do not show it. `digits` are
    decimals in texts. `from_zero` includes 0 in the axis, for values whose sign matters.
    """

    title: str
    panels: tuple[str, ...]
    short: tuple[str, ...]
    lines: tuple[Line, ...]
    series: tuple[tuple[str, Sign], ...]
    bands: tuple[Band, ...]
    axis: str | tuple[str, ...]
    caption: str
    signature: str
    factor: float = 1.0
    counted: str = ""
    digits: int = 1
    from_zero: bool = False

    @property
    def alt(self) -> str:
        rows = "1 row" if len(self.lines) == 1 else f"{len(self.lines)} rows"
        lines = [band.name for band in self.bands if band.defined]
        beside = f", beside {' and '.join(lines)}" if lines else ""
        panels = "1 panel" if len(self.panels) == 1 else f"{len(self.panels)} panels"
        return f"{rows} in {panels}{beside}."

    @property
    def axes(self) -> tuple[str, ...]:
        return (self.axis,) * len(self.panels) if isinstance(self.axis, str) else self.axis

    @property
    def estimates(self) -> list[Estimate]:
        """All estimates drawn as marks, row by row."""
        return [estimate for line in self.lines for cell in line.cells for estimate in cell if estimate is not None]

    @property
    def limits(self) -> tuple[float, float]:
        """Ends of the axis that all panels share, in its unit; it includes every mark, interval and reference line."""
        estimates = [*self.estimates, *(estimate for band in self.bands for estimate in band.estimates)]
        ends = [
            e
            for estimate in estimates
            if estimate.value is not None
            for e in (estimate.value, estimate.low, estimate.high)
            if e is not None
        ]
        if not ends:
            return 0.0, self.factor
        ends += [0.0] * self.from_zero
        low, high = self.factor * min(ends), self.factor * max(ends)
        space = _SPACE * ((high - low) or 1.0)
        return low - space, high + space

    def places(self, gap: float) -> list[float]:
        """Top of each row, in units of rows, with an additional `gap` where a new group begins."""
        return shared.places([line.group for line in self.lines], gap)

    def tip(self, line: Line, panel: int, series: int) -> str:
        """Tooltip of one mark."""
        named = [line.name, self.series[series][0]] if len(self.series) > 1 else [line.name]
        return self._worded(", ".join([*named, self.panels[panel]]), line.cells[panel][series])

    def band_tip(self, band: Band, panel: int) -> str:
        """Tooltip of a reference line."""
        return self._worded(f"{band.name}, {self.panels[panel]}", band.estimates[panel])

    def _worded(self, name: str, estimate: Estimate | None) -> str:
        if estimate is None:
            return name
        count = f", n = {estimate.n} {self.counted}" if self.counted and estimate.defined else ""
        return f"{name}: {shared.worded(estimate, factor=self.factor, digits=self.digits)}{count}"


def signs(names: Sequence[str], kind: str) -> list[Sign]:
    """A different sign for each name. Raises SpecError if there are more names (of this `kind`) than signs."""
    if len(names) > len(SIGNS):
        raise SpecError(
            f"{len(names)} {kind} are too many for one figure; at most {len(SIGNS)} can be distinguished",
            hint=Advice("choose with {judge}, {eval_prompt} or {criterion}"),
        )
    return list(SIGNS[: len(names)])
