"""A heat map: rows in groups, one column a criterion. An undefined cell is hatched and says why when pointed at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from judge.pages.charts.colours import Scale
from judge.pages.charts.svg import BOLD, chart, element, fitted, mark, shortened, text, text_width

_WIDTH, _HEIGHT = 52.0, 24.0
_GAP = 9.0
_LABELS = 330.0
"""The widest that labels may become."""
_HEAD, _FOOT = 26.0, 40.0
_STEPS, _STEP = 24, 6.0
"""Colours of the key, and how wide each is."""


@dataclass(frozen=True, slots=True)
class HeatCell:
    """`value` (None = undefined) says the colour, `shown` stands in the cell, `tip` is said when it is pointed at."""

    value: float | None
    shown: str
    tip: str


@dataclass(frozen=True, slots=True)
class HeatRow:
    """`group` is printed once, before the first of its rows; `label` names the row in it and may be empty."""

    group: str
    label: str
    cells: Sequence[HeatCell]


@dataclass(frozen=True, slots=True)
class HeatMap:
    """All of one picture. `apart` sets the last so many columns apart (means); `unit` stands beside the colours."""

    identity: str
    title: str
    description: str
    columns: Sequence[str]
    rows: Sequence[HeatRow]
    unit: str
    apart: int = 0

    def svg(self) -> Markup:
        """The picture."""
        scale = Scale.of([c.value for row in self.rows for c in row.cells if c.value is not None])
        near = max((text_width(row.label) for row in self.rows), default=0.0)
        near = min(near, _LABELS / 2) + (10.0 if near else 0.0)
        far = min(max((text_width(row.group) for row in self.rows), default=0.0) * BOLD, _LABELS - near)
        left = near + far + 14.0
        places = self._places()
        bottom = _HEAD + (places[-1] + _HEIGHT if places else 0.0)
        width = max(left + self._x(len(self.columns)) + 4.0, left + _key_width(self.unit) + 4.0, 300.0)
        parts = [_hatching(self.identity), *self._heads(left), *self._labels(left, near, far, places)]
        for row, place in zip(self.rows, places, strict=True):
            for i, cell in enumerate(row.cells):
                parts.append(self._cell(left + self._x(i), _HEAD + place, cell, scale))
        parts += _key(left, bottom + 12.0, scale, self.unit)
        return chart(self.identity, (width, bottom + _FOOT), self.title, self.description, parts)

    def _x(self, column: int) -> float:
        gap = _GAP if self.apart and column >= len(self.columns) - self.apart else 0.0
        return column * _WIDTH + gap

    def _places(self) -> list[float]:
        places: list[float] = []
        for i, row in enumerate(self.rows):
            gap = _GAP if i and row.group != self.rows[i - 1].group else 0.0
            places.append(places[-1] + _HEIGHT + gap if places else 0.0)
        return places

    def _heads(self, left: float) -> Iterator[Markup]:
        for i, name in enumerate(self.columns):
            yield fitted(
                left + self._x(i) + _WIDTH / 2, _HEAD - 12, name, (_WIDTH - 2) / BOLD, anchor="middle", font_weight=600
            )

    def _labels(self, left: float, near: float, far: float, places: Sequence[float]) -> Iterator[Markup]:
        for i, (row, place) in enumerate(zip(self.rows, places, strict=True)):
            y = _HEAD + place + _HEIGHT / 2
            if row.label:
                yield fitted(left - 6, y, row.label, near, anchor="end")
            if not i or row.group != self.rows[i - 1].group:
                x, room = (left - 6 - near, far) if row.label else (left - 6, far + near)
                yield mark(row.group, text(x, y, shortened(row.group, room / BOLD), anchor="end", font_weight=600))

    def _cell(self, x: float, y: float, cell: HeatCell, scale: Scale) -> Markup:
        box = {"x": x, "y": y, "width": _WIDTH - 1, "height": _HEIGHT - 1}
        if cell.value is None:
            return mark(cell.tip, element("rect", **box, fill=f"url(#{self.identity}-hatch)", class_="undefined"))
        colour, ink = scale.colour(cell.value), scale.ink(cell.value)
        number = text(x + _WIDTH / 2 - 0.5, y + _HEIGHT / 2 - 0.5, cell.shown, anchor="middle", class_=_INKS[ink])
        return mark(cell.tip, element("rect", **box, fill=colour), number)


_INKS = {"#000000": "on-light", "#ffffff": "on-dark"}


def _hatching(identity: str) -> Markup:
    line = element("path", d="M0 6L6 0", class_="hatch")
    pattern = element("pattern", line, id=f"{identity}-hatch", width=6, height=6, patternUnits="userSpaceOnUse")
    return element("defs", pattern)


def _key_width(unit: str) -> float:
    return _STEPS * _STEP + 10 + text_width(unit, 11)


def _key(x: float, y: float, scale: Scale, unit: str) -> Iterator[Markup]:
    for i in range(_STEPS):
        value = scale.low + (scale.high - scale.low) * (i + 0.5) / _STEPS
        yield element("rect", x=x + i * _STEP, y=y, width=_STEP + 0.3, height=9, fill=scale.colour(value))
    end = x + _STEPS * _STEP
    yield text(x, y + 18, f"{100 * scale.low:.0f}".replace("-", "−"), size=11, class_="faint")
    yield text(end, y + 18, f"{100 * scale.high:.0f}", size=11, anchor="end", class_="faint")
    yield text(end + 10, y + 5, unit, size=11, class_="faint")
