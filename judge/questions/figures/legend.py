"""The legend above the panels: names of markers and bands, in as many rows as the figure's width requires."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from judge.questions.charts.signs import Sign
from judge.questions.figures import page, panels

_ROW, _SIGN, _SPACE = 0.15, 0.22, 0.13
_TEXT = _SIGN + 0.05


@dataclass(frozen=True, slots=True)
class Bar:
    """Symbol of a band in the legend: a grey or (`hatched`) a hatched area, or only a line if not `wide`."""

    hatched: bool = False
    wide: bool = True

    @property
    def style(self) -> dict[str, Any]:
        """Keyword arguments with which matplotlib draws the symbol as a patch."""
        if self.hatched:
            return {"facecolor": "none", "edgecolor": "#bbbbbb", "hatch": "//////"}
        return {"facecolor": "#d4d4d4", "edgecolor": "none"}


Entry = tuple[str, Sign | Bar]


def rows(entries: Sequence[Entry], inches: float) -> list[list[Entry]]:
    """Legend entries in rows at most `inches` wide. A name that is wider than a row is shortened."""
    drawn: list[list[Entry]] = []
    used = 0.0
    for name, sign in entries:
        shown = page.shortened(name, panels.LABEL, inches - _TEXT - _SPACE)
        wide = _width(shown)
        if drawn and used + wide <= inches:
            drawn[-1].append((shown, sign))
            used += wide
        else:
            drawn.append([(shown, sign)])
            used = wide
    return drawn


def height(lines_of_entries: Sequence[Sequence[Entry]]) -> float:
    """Height of the legend's rows in inches."""
    return _ROW * len(lines_of_entries) + (0.04 if lines_of_entries else 0.0)


def draw(grid: panels.Panels, lines_of_entries: Sequence[Sequence[Entry]], *, lines: bool = True) -> None:
    """Draw the legend's rows at the top of the figure. Without `lines`, markers are drawn without a line."""
    for number, row in enumerate(lines_of_entries):
        x, y = page.MARGIN, grid.height - page.MARGIN - (number + 0.5) * _ROW
        for name, sign in row:
            for artist in _key(sign, x, y, grid, lines=lines):
                grid.figure.add_artist(artist)
            at = ((x + _TEXT) / grid.width, y / grid.height)
            grid.figure.text(*at, name, va="center_baseline", size=panels.LABEL)
            x += _width(name)


def _width(name: str) -> float:
    # Renderers round letters to whole pixels: 3 % for that.
    return _TEXT + 1.03 * page.text_width(name, panels.LABEL) + _SPACE


def _key(sign: Sign | Bar, x: float, y: float, grid: panels.Panels, *, lines: bool) -> Iterator[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Rectangle

    width, tall = grid.width, grid.height
    middle = (x + _SIGN / 2) / width
    if isinstance(sign, Sign):
        if lines:
            ends = [x / width, (x + _SIGN) / width]
            line: dict[str, Any] = {"color": sign.colour, "linewidth": 1.0, "linestyle": sign.dash}
            yield Line2D(ends, [y / tall] * 2, **line)
        style: dict[str, Any] = {"markerfacecolor": sign.face, "markeredgecolor": sign.colour, "markeredgewidth": 0.8}
        yield Line2D([middle], [y / tall], marker=sign.marker, markersize=3.4, linestyle="none", **style)
        return
    corner, size = (x / width, (y - 0.045) / tall), (_SIGN / width, 0.09 / tall)
    if sign.wide:
        yield Rectangle(corner, *size, linewidth=0, **sign.style)
    dash: Any = (0, (1.5, 1)) if sign.hatched else "solid"
    ends = [corner[1], corner[1] + size[1]]
    yield Line2D([middle] * 2, ends, color="#444444", linewidth=0.9, linestyle=dash)
