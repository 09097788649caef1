"""Heat maps in a page. An undefined cell is hatched, and its tooltip gives the reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from judge.questions.charts.colours import Scale
from judge.questions.charts.heatmap import HeatCell, HeatMap
from judge.show.pages.charts.svg import BOLD, chart, element, fitted, hatching, mark, shortened, text, text_width

_WIDTH, _HEIGHT = 46.0, 24.0
_GAP = 9.0
_LABELS = 330.0
"""The widest that labels may become."""
_HEAD, _FOOT = 26.0, 40.0
_STEPS, _STEP = 24, 6.0
"""Colours of the key, and how wide each is."""
_INKS = {"#000000": "on-light", "#ffffff": "on-dark"}


def heat_map(figure: HeatMap, identity: str) -> Markup:
    """SVG picture of a heat map. `identity` is the picture's id in the page."""
    near = max((text_width(row.label) for row in figure.rows), default=0.0)
    near = min(near, _LABELS / 2) + (10.0 if near else 0.0)
    judges = max((text_width(row.name) for row in figure.rows if not row.is_bar), default=0.0) * BOLD
    # A row that judges are compared with has no Eval-Prompt: its name takes the room of both.
    bars = max((text_width(row.name) for row in figure.rows if row.is_bar), default=0.0) + 2.0 - near
    far = min(max(judges, bars, 0.0), _LABELS - near)
    left = near + far + 14.0
    places = [_HEIGHT * offset for offset in figure.places(_GAP / _HEIGHT)]
    bottom = _HEAD + (places[-1] + _HEIGHT if places else 0.0)
    width = max(left + _x(figure, len(figure.columns)) + 4.0, left + _key_width(figure.unit) + 4.0, 300.0)
    parts = [hatching(identity), *_heads(figure, left), *_labels(figure, left, near, far, places)]
    for row, offset in zip(figure.rows, places, strict=True):
        for i, cell in enumerate(row.cells):
            parts.append(_cell(left + _x(figure, i), _HEAD + offset, cell, figure.scale, identity))
    parts += _key(left, bottom + 12.0, figure.scale, figure.unit)
    return chart(identity, (width, bottom + _FOOT), figure.title, f"{figure.alt} A table follows.", parts)


def _x(figure: HeatMap, column: int) -> float:
    gap = _GAP if figure.apart and column >= len(figure.columns) - figure.apart else 0.0
    return column * _WIDTH + gap


def _heads(figure: HeatMap, left: float) -> Iterator[Markup]:
    for i, name in enumerate(figure.columns):
        middle = left + _x(figure, i) + _WIDTH / 2
        yield fitted(middle, _HEAD - 12, name, (_WIDTH - 2) / BOLD, anchor="middle", font_weight=600)


def _labels(figure: HeatMap, left: float, near: float, far: float, places: Sequence[float]) -> Iterator[Markup]:
    for i, (row, offset) in enumerate(zip(figure.rows, places, strict=True)):
        y = _HEAD + offset + _HEIGHT / 2
        if row.is_bar:
            yield mark(row.name, text(left - 6, y, shortened(row.name, far + near), anchor="end", font_style="italic"))
            continue
        if row.label:
            yield fitted(left - 6, y, row.label, near, anchor="end")
        if figure.begins(i):
            x, room = (left - 6 - near, far) if row.label else (left - 6, far + near)
            yield mark(row.name, text(x, y, shortened(row.name, room / BOLD), anchor="end", font_weight=600))


def _cell(x: float, y: float, cell: HeatCell, scale: Scale, identity: str) -> Markup:
    box = {"x": x, "y": y, "width": _WIDTH - 1, "height": _HEIGHT - 1}
    if cell.value is None:
        return mark(cell.tip, element("rect", **box, fill=f"url(#{identity}-hatch)", class_="undefined"))
    colour, ink = scale.colour(cell.value), scale.ink(cell.value)
    number = text(x + _WIDTH / 2 - 0.5, y + _HEIGHT / 2 - 0.5, cell.shown, anchor="middle", class_=_INKS[ink])
    return mark(cell.tip, element("rect", **box, fill=colour), number)


def _key_width(unit: str) -> float:
    return _STEPS * _STEP + 10 + text_width(unit, 11)


def _key(x: float, y: float, scale: Scale, unit: str) -> Iterator[Markup]:
    for i in range(_STEPS):
        value = scale.low + (scale.high - scale.low) * (i + 0.5) / _STEPS
        yield element("rect", x=x + i * _STEP, y=y, width=_STEP + 0.3, height=9, fill=scale.colour(value))
    end = x + _STEPS * _STEP
    yield text(x, y + 18, f"{scale.low:.0f}".replace("-", "−"), size=11, class_="faint")
    yield text(end, y + 18, f"{scale.high:.0f}", size=11, anchor="end", class_="faint")
    yield text(end + 10, y + 5, unit, size=11, class_="faint")
