"""Dots with whiskers, in panels that share their rows and their axis. A row without a value says so in its place."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from judge.pages.charts.svg import BOLD, chart, element, fitted, mark, shortened, text, text_width

_PANEL, _GAP = 132.0, 20.0
"""Width of a panel unless the picture says another, and the space after it."""
_SCREEN = 1150.0
"""The widest that a picture becomes unless one panel needs more."""
_ROW = 19.0
_HEAD, _FOOT = 30.0, 44.0
_LABELS = 300.0


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with its ends (None where there are none); `tip` is said when it is pointed at; `kind` 1-8 a colour."""

    value: float | None
    low: float | None
    high: float | None
    tip: str
    kind: int = 1


@dataclass(frozen=True, slots=True)
class Reference:
    """A line through a panel: what all rows are to be compared with; dashed or not."""

    value: float
    tip: str
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class IntervalPanel:
    """One panel: an interval for each of the picture's rows, and lines to compare with."""

    title: str
    intervals: Sequence[Interval]
    references: Sequence[Reference] = ()


@dataclass(frozen=True, slots=True)
class Intervals:
    """All of one picture; the axis is printed times `factor`, `unit` stands under it."""

    identity: str
    title: str
    description: str
    rows: Sequence[str]
    panels: Sequence[IntervalPanel]
    unit: str
    factor: float = 1.0
    width: float = _PANEL
    legend: Sequence[tuple[str, bool]] = ()
    """(name, dashed) of the lines."""

    def svg(self) -> Markup:
        """The picture; panels that are too many for a screen go on in further lines, as many in each."""
        left = min(max((text_width(row) for row in self.rows), default=0.0), _LABELS) + 14.0
        across = self._across(left)
        low, high, ticks = self._axis()
        tall = _HEAD + _ROW * len(self.rows) + _FOOT
        parts: list[Markup] = []
        for k, panel in enumerate(self.panels):
            line, place = divmod(k, across)
            top = line * tall
            x = left + place * (self.width + _GAP)
            if not place:
                parts += self._labels(left, top)
            parts += self._panel(panel, (x, top), (low, high), ticks)
        lines = math.ceil(len(self.panels) / across) or 1
        bottom = lines * tall
        parts += self._legend(left, bottom + 6)
        columns = min(len(self.panels), across) or 1
        width = max(left + columns * (self.width + _GAP) + 4.0, left + self._legend_width() + 4.0, 320.0)
        return chart(self.identity, (width, bottom + (18 if self.legend else 0)), self.title, self.description, parts)

    def _across(self, left: float) -> int:
        """Panels in a line: as many as a screen has room for, evenly over the lines that they need."""
        most = max(1, math.floor((_SCREEN - left) / (self.width + _GAP)))
        return math.ceil(len(self.panels) / math.ceil(len(self.panels) / most)) if self.panels else 1

    def _axis(self) -> tuple[float, float, list[float]]:
        known = [
            end
            for panel in self.panels
            for one in panel.intervals
            for end in (one.value, one.low, one.high)
            if end is not None
        ]
        known += [one.value for panel in self.panels for one in panel.references]
        low, high = min([0.0, *known]), max([0.0, *known])
        if high - low < 1e-9:
            high = low + 1.0
        low, high = low - 0.04 * (high - low) * (low < 0), high + 0.04 * (high - low) * (high > 0)
        step = _step((high - low) / (self.width / 42))
        ticks = _multiples(step, low, high)
        if len(ticks) < 2:  # 0 alone, between ends of both signs, would not tell the scale
            ticks = _multiples(_step(step / 2.6), low, high)
        return low, high, ticks

    def _labels(self, left: float, top: float) -> Iterator[Markup]:
        for i, row in enumerate(self.rows):
            y = top + _HEAD + _ROW * (i + 0.5)
            yield mark(row, text(left - 10, y, shortened(row, left - 12), anchor="end"))

    def _panel(
        self, panel: IntervalPanel, corner: tuple[float, float], ends: tuple[float, float], ticks: Sequence[float]
    ) -> Iterator[Markup]:
        x, top = corner
        low, high = ends
        tall = _ROW * len(self.rows)
        digits = tick_digits([self.factor * tick for tick in ticks])

        def at(value: float) -> float:
            return x + self.width * (value - low) / (high - low)

        yield fitted(x + self.width / 2, top + 12, panel.title, self.width / BOLD, anchor="middle", font_weight=600)
        for tick in ticks:
            here = {"x1": at(tick), "x2": at(tick), "y1": top + _HEAD, "y2": top + _HEAD + tall}
            yield element("line", **here, class_="zero" if abs(tick) < 1e-12 else "axis")
            label = f"{self.factor * tick:.{digits}f}".replace("-", "−")
            yield text(at(tick), top + _HEAD + tall + 12, label, size=11, anchor="middle", class_="faint")
        room = self.width + _GAP - 4
        yield fitted(
            x + self.width / 2, top + _HEAD + tall + 27, self.unit, room, size=11, anchor="middle", class_="faint"
        )
        for one in panel.references:
            line = element(
                "line",
                x1=at(one.value),
                x2=at(one.value),
                y1=top + _HEAD - 4,
                y2=top + _HEAD + tall,
                class_="reference dashed" if one.dashed else "reference",
            )
            yield mark(one.tip, line)
        for i, interval in enumerate(panel.intervals):
            yield self._interval(interval, at, top + _HEAD + _ROW * (i + 0.5), x)

    def _interval(self, one: Interval, at: Callable[[float], float], y: float, x: float) -> Markup:
        if one.value is None:
            return mark(one.tip, text(x + self.width / 2, y, "undefined", size=10, anchor="middle", class_="faint"))
        parts = []
        if one.low is not None and one.high is not None:
            parts.append(element("line", x1=at(one.low), x2=at(one.high), y1=y, y2=y, class_=f"whisker s{one.kind}"))
        parts.append(element("circle", cx=at(one.value), cy=y, r=3.6, class_=f"f{one.kind}"))
        # A wider target than the dot, for pointing at.
        parts.append(element("rect", x=x, y=y - _ROW / 2, width=self.width, height=_ROW, class_="target"))
        return mark(one.tip, *parts)

    def _legend_width(self) -> float:
        return sum(28 + text_width(name, 11) for name, _ in self.legend) + 24 * max(0, len(self.legend) - 1)

    def _legend(self, x: float, y: float) -> Iterator[Markup]:
        for name, dashed in self.legend:
            style = "reference dashed" if dashed else "reference"
            yield element("line", x1=x, x2=x + 22, y1=y, y2=y, class_=style)
            yield text(x + 28, y, name, size=11, class_="faint")
            x += 28 + text_width(name, 11) + 24


def _multiples(step: float, low: float, high: float) -> list[float]:
    return [i * step for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def tick_digits(ticks: Sequence[float]) -> int:
    """The fewest decimals with which every label is its tick: a label that is rounded would stand in a wrong place."""
    step = min((b - a for a, b in itertools.pairwise(ticks)), default=max(map(abs, ticks), default=0.0)) or 1.0
    return next((n for n in range(16) if all(abs(round(tick, n) - tick) < 1e-6 * step for tick in ticks)), 16)


def _step(rough: float) -> float:
    """The next of 1, 2, 2.5, 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if factor * power >= rough - 1e-12)
