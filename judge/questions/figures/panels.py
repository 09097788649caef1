"""Layout of a figure: panels of equal size in a grid, labels at their left, caption and signature at the bottom."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from judge.base.errors import SpecError
from judge.base.wording import Advice
from judge.questions.charts import words
from judge.questions.figures import page

TALLEST = 9.2
"""Inches: what a page holds."""

LABEL, TICK, TITLE = 7.0, 6.5, 7.5
"""Type in points: labels and legends, numbers at axes, titles of panels."""

NARROW = 4.0
"""Inches below which names are shortened more and captions are set smaller."""

GRID = "#dddddd"


@dataclass(frozen=True, slots=True)
class Room:
    """Space in inches around and between panels: left of each row, above and below each row, between neighbouring
    panels, and at the top of the figure.
    """

    left: float
    above: float
    below: float
    between: float
    top: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Panels:
    """A figure with empty axes: `axes[i]` is panel i, and `columns` is the number of panels in a row. `width` and
    `height` are the figure's, in inches.
    """

    figure: Any
    axes: tuple[Any, ...]
    columns: int
    width: float
    height: float

    @property
    def rows(self) -> int:
        """Number of rows of panels in the figure."""
        return math.ceil(len(self.axes) / self.columns)

    def row_ends(self) -> Iterator[tuple[Any, Any]]:
        """Yield the axes of the first and the last panel of each row."""
        for start in range(0, len(self.axes), self.columns):
            row = self.axes[start : start + self.columns]
            yield row[0], row[-1]


def columns_for(number: int, width: float, room: Room, least: float) -> int:
    """Number of columns in which to arrange `number` panels, so that each panel is at least `least` inches wide and
    rows are filled evenly.
    """
    free = width - room.left - page.MARGIN
    most = max(1, min(number, int((free + room.between) / (least + room.between) + 1e-9)))
    return math.ceil(number / math.ceil(number / most))


def make(
    number: int,
    width: float,
    panel_height: float,
    room: Room,
    foot: page.Foot,
    *,
    columns: int,
    widest: float = 9.0,
) -> Panels:
    """A figure `width` inches wide with `number` empty panels. Its height follows from the panels; SpecError if it
    exceeds a page.
    """
    from matplotlib.figure import Figure

    rows = math.ceil(number / columns)
    free = width - room.left - page.MARGIN
    panel = min(widest, (free - (columns - 1) * room.between) / columns)
    row_height = room.above + panel_height + room.below
    height = page.MARGIN + room.top + rows * row_height + foot.height + 0.04
    if height > TALLEST:
        raise SpecError(
            f"the figure would be {height:.0f} inches high; a page holds {TALLEST:g}",
            hint=Advice("draw fewer with {criterion}, {judge} or {eval_prompt}, or take {width}", width="page"),
        )
    figure = Figure(figsize=(width, height))
    axes = []
    for i in range(number):
        row, column = divmod(i, columns)
        x = room.left + column * (panel + room.between)
        y = height - page.MARGIN - room.top - row * row_height - room.above - panel_height
        axes.append(figure.add_axes((x / width, y / height, panel / width, panel_height / height)))
    foot.write(figure)
    return Panels(figure, tuple(axes), columns, width, height)


def plain(axes: Any) -> None:
    """Style axes without a box: only a line at the bottom, and small tick labels."""
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_linewidth(0.6)
    axes.tick_params(labelsize=TICK, width=0.5, length=2, pad=1.5)


def ticks(low: float, high: float, inches: float) -> tuple[list[float], list[str]]:
    """Positions and labels of round tick values for an axis `inches` long, as many as fit without overlap."""
    from matplotlib.ticker import MaxNLocator

    for most in (5, 4, 3, 2, 1):
        places = [p for p in MaxNLocator(nbins=most, steps=[1, 2, 5, 10]).tick_values(low, high) if low <= p <= high]
        labels = [f"{value:g}".replace("-", "−") for value in places]
        wide = max((page.text_width(label, TICK) for label in labels), default=0.0)
        apart = (places[1] - places[0]) / (high - low) * inches if len(places) > 1 else inches
        if apart >= wide + 0.07:
            break
    return [float(value) for value in places], labels


def title(axes: Any, text: str, pad: float = 3) -> None:
    """Draw a panel's title `pad` points above the panel, shortened if it is wider than the panel."""
    inches = axes.get_position().width * axes.figure.get_size_inches()[0]
    name = page.shortened(text, TITLE, inches, weight="bold")
    axes.set_title(name, size=TITLE, weight="bold", pad=pad)


def axis_title(grid: Panels, texts: Sequence[str], drop: float) -> None:
    """Draw titles of the horizontal axes, `drop` inches below the axes. Neighbouring panels with the same title share
    one.
    """
    for start in range(0, len(grid.axes), grid.columns):
        row = zip(grid.axes[start : start + grid.columns], texts[start : start + grid.columns], strict=True)
        for unit, group in groupby(row, key=lambda pair: pair[1]):
            boxes = [axes.get_position() for axes, _ in group]
            x, y = (boxes[0].x0 + boxes[-1].x1) / 2, boxes[0].y0 - drop / grid.height
            grid.figure.text(x, y, unit, ha="center", va="top", size=LABEL)


def abbreviated(criteria: Sequence[str], short: Sequence[str], inches: float) -> tuple[Sequence[str], str]:
    """Titles for panels `inches` wide: all criteria in full or, if any is too wide, all in their `short` form; and a
    sentence that explains the abbreviations ("" without them).
    """
    if all(page.text_width(name, TITLE, weight="bold") <= inches for name in criteria) or tuple(short) == tuple(
        criteria
    ):
        return criteria, ""
    return short, words.meaning(short, criteria)
