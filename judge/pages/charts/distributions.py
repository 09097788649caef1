"""Small histograms in a grid, a row for whoever rated and a column a criterion: all bars share one scale of heights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from judge.pages.charts.svg import BOLD, chart, element, fitted, mark, shortened, text, text_width

_WIDTH, _HEIGHT, _GAP = 104.0, 38.0, 12.0
_ROW = _HEIGHT + 8.0
_HEAD, _FOOT = 26.0, 40.0
_LABELS = 300.0


@dataclass(frozen=True, slots=True)
class Distribution:
    """`counts` of ratings at each of the picture's points, out of `n`; None instead of counts: `reason` says why."""

    counts: Sequence[int] | None
    n: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Distributions:
    """All of one picture: rows x columns of histograms over the same `points`. `kinds` are the rows' colours (1-8)."""

    identity: str
    title: str
    description: str
    points: Sequence[Sequence[str]]
    """The points of the scale, as printed, of each column."""
    columns: Sequence[str]
    rows: Sequence[str]
    cells: Sequence[Sequence[Distribution]]
    kinds: Sequence[int]

    def svg(self) -> Markup:
        """The picture."""
        left = min(max((text_width(row) for row in self.rows), default=0.0), _LABELS) + 14.0
        top = max((max(one.counts) / one.n for row in self.cells for one in row if one.counts and one.n), default=1.0)
        parts: list[Markup] = []
        for j, name in enumerate(self.columns):
            x = left + j * (_WIDTH + _GAP)
            parts.append(fitted(x + _WIDTH / 2, 11, name, (_WIDTH + _GAP - 4) / BOLD, anchor="middle", font_weight=600))
            parts += self._foot(j, x, _HEAD + _ROW * len(self.rows))
        for i, row in enumerate(self.rows):
            y = _HEAD + i * _ROW
            parts.append(mark(row, text(left - 10, y + _HEIGHT / 2, shortened(row, left - 12), anchor="end")))
            for j in range(len(self.columns)):
                parts += self._histogram(i, j, (left + j * (_WIDTH + _GAP), y), top)
        tallest = f"tallest bar: {100 * top:.0f} % of a row's ratings"
        width = max(left + len(self.columns) * (_WIDTH + _GAP) + 4, left + text_width(tallest, 11) + 4, 300.0)
        size = (width, _HEAD + _ROW * len(self.rows) + _FOOT)
        parts.append(text(left, size[1] - 8, tallest, size=11, class_="faint"))
        return chart(self.identity, size, self.title, self.description, parts)

    def _foot(self, column: int, x: float, y: float) -> Iterator[Markup]:
        points = self.points[column]
        wide = _WIDTH / max(1, len(points))
        # A long scale has its ends alone.
        shown = range(len(points)) if len(points) <= 7 else (0, len(points) - 1)
        for k in shown:
            yield text(x + (k + 0.5) * wide, y + 4, points[k], size=11, anchor="middle", class_="faint")

    def _histogram(self, i: int, j: int, corner: tuple[float, float], top: float) -> Iterator[Markup]:
        one, (x, y) = self.cells[i][j], corner
        where = f"{self.rows[i]}, {self.columns[j]}"
        yield element("line", x1=x, x2=x + _WIDTH, y1=y + _HEIGHT, y2=y + _HEIGHT, class_="axis")
        if one.counts is None or not one.n:
            why = one.reason or "no rating"
            yield mark(
                f"{where}: {why}",
                text(x + _WIDTH / 2, y + _HEIGHT / 2, "none", size=10, anchor="middle", class_="faint"),
            )
            return
        points = self.points[j]
        wide = _WIDTH / len(points)
        for k, count in enumerate(one.counts):
            share = count / one.n
            tall = _HEIGHT * share / top if top else 0.0
            tip = f"{where}: {points[k]} in {count:,} of {one.n:,} ratings, {100 * share:.1f} %"
            bar = element(
                "rect",
                x=x + k * wide + 0.08 * wide,
                y=y + _HEIGHT - tall,
                width=0.84 * wide,
                height=tall,
                class_=f"f{self.kinds[i]}",
            )
            target = element("rect", x=x + k * wide, y=y, width=wide, height=_HEIGHT, class_="target")
            yield mark(tip, bar, target)
