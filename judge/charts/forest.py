"""The forest chart: estimates with intervals, a row for each source, a panel for each criterion.

What bounds them stands behind: how well people agree with each other, and what the control judge reaches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judge.charts import groups, words
from judge.charts.signs import SIGNS, Sign
from judge.errors import SpecError
from judge.stats.estimate import Estimate
from judge.wording import Advice

_SPACE = 0.06
"""Of the axis, what stays empty at either end."""


@dataclass(frozen=True, slots=True)
class Line:
    """One row of a forest chart: its group (a judge), its label (an Eval-Prompt, a system), and an estimate for each
    panel and series.

    None = there is nothing to show, and nothing was to be expected. `sign` draws the row's marks in place of the
    series' signs.
    """

    group: str
    label: str
    cells: tuple[tuple[Estimate | None, ...], ...]
    sign: Sign | None = None

    @property
    def name(self) -> str:
        """Group and label in words."""
        return ", ".join(part for part in (self.group, self.label) if part)


@dataclass(frozen=True, slots=True)
class Band:
    """A line with its interval behind all rows: one estimate for each panel. `hatched` marks a band that is not a
    ceiling.
    """

    name: str
    estimates: tuple[Estimate, ...]
    hatched: bool = False

    @property
    def defined(self) -> bool:
        """Whether any estimate is defined."""
        return any(estimate.defined for estimate in self.estimates)

    @property
    def wide(self) -> bool:
        """Whether the band has an interval to draw, beyond the line."""
        return any(estimate.low is not None and estimate.high is not None for estimate in self.estimates)


@dataclass(frozen=True, slots=True)
class Forest:
    """Specification of a forest chart; `axis` is the unit of the values multiplied by `factor`, one for all panels or
    one for each.

    `counted` is what an estimate's n counts ("" where tips do not say it), `digits` are those of numbers in words.
    `from_zero` holds 0 within the axis, for values whose sign matters.
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
        """Alternative text of the picture, for screen readers."""
        rows = "1 row" if len(self.lines) == 1 else f"{len(self.lines)} rows"
        lines = [band.name for band in self.bands if band.defined]
        beside = f", beside {' and '.join(lines)}" if lines else ""
        panels = "1 panel" if len(self.panels) == 1 else f"{len(self.panels)} panels"
        return f"{rows} in {panels}{beside}."

    @property
    def axes(self) -> tuple[str, ...]:
        """The unit of each panel."""
        return (self.axis,) * len(self.panels) if isinstance(self.axis, str) else self.axis

    @property
    def estimates(self) -> list[Estimate]:
        """All estimates drawn as marks, row by row."""
        return [estimate for line in self.lines for cell in line.cells for estimate in cell if estimate is not None]

    @property
    def limits(self) -> tuple[float, float]:
        """Ends of the axis that all panels share, in its unit: every mark, whisker and band lies between them."""
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
        """Vertical position of each row's top, in units of rows, with a gap wherever another group begins."""
        return groups.places([line.group for line in self.lines], gap)

    def tip(self, line: Line, panel: int, series: int) -> str:
        """Description of one mark in words."""
        named = [line.name, self.series[series][0]] if len(self.series) > 1 else [line.name]
        return self._worded(", ".join([*named, self.panels[panel]]), line.cells[panel][series])

    def band_tip(self, band: Band, panel: int) -> str:
        """Description of a band in one panel, in words."""
        return self._worded(f"{band.name}, {self.panels[panel]}", band.estimates[panel])

    def _worded(self, name: str, estimate: Estimate | None) -> str:
        if estimate is None:
            return name
        count = f", n = {estimate.n} {self.counted}" if self.counted and estimate.defined else ""
        return f"{name}: {words.worded(estimate, factor=self.factor, digits=self.digits)}{count}"


def signs(names: Sequence[str], kind: str) -> list[Sign]:
    """A sign for each name; raises SpecError where there are too many names to tell apart."""
    if len(names) > len(SIGNS):
        raise SpecError(
            f"{len(names)} {kind} are too many for one figure; at most {len(SIGNS)} can be distinguished",
            hint=Advice("choose with {judge}, {eval_prompt} or {criterion}"),
        )
    return list(SIGNS[: len(names)])
