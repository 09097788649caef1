"""The figure of rating distributions: one row for people and one for each judge, one column for each criterion."""

from __future__ import annotations

import math
from typing import Any

from judge.base.errors import SpecError
from judge.base.wording import Advice
from judge.questions.charts.distributions import Distributions, Histogram, HistogramRow
from judge.questions.charts.shared import BLUE, SKY
from judge.questions.figures import panels

_HEIGHT = 0.34
_LEAST = 0.5
# Inches of the numbers at the left axis.
_NUMBERS = 0.2
_JUDGE_SHARE = 0.24
_SPACE = 0.06
_SMALL = 5.5
# Panels in one figure.
MOST = 120


def draw(chart: Distributions, width: float) -> Any:
    """Figure `width` inches wide: bars are per cent of the ratings, a line in judges' panels is people's."""
    with panels.style():
        return _draw(chart, width)


def _draw(chart: Distributions, width: float) -> Any:
    number = len(chart.rows) * len(chart.criteria)
    if number > MOST:
        raise SpecError(
            f"{number} panels are too many for one figure; at most {MOST}",
            hint=Advice("choose with {judge}, {eval_prompt} or {criterion}"),
        )
    narrow = width < panels.NARROW
    names, prompts, left = _labels(chart, width)
    room = panels.Room(left + _NUMBERS, above=0.0, below=0.0, between=0.09)
    columns = panels.columns_for(len(chart.criteria), width, room, _LEAST)
    inches = (width - room.left - panels.MARGIN - (columns - 1) * room.between) / columns
    titles, meaning = panels.abbreviated(chart.criteria, chart.short, inches)
    blocks = math.ceil(len(chart.criteria) / columns)
    caption = chart.caption + meaning
    foot = panels.Foot.of(caption, chart.signature, width - 2 * panels.MARGIN, 6.5 if narrow else 7.5)
    # A block is its criteria's titles, a panel for every source, the scale's points beneath.
    pitch = _HEIGHT + 0.07
    block = 0.2 + len(chart.rows) * pitch + 0.32
    grid = panels.make(blocks, width, block, panels.Room(0, 0, 0, 0), foot, columns=1)
    top = 1.35 * chart.top
    for number, whole in enumerate(grid.axes):
        box = whole.get_position()
        grid.figure.delaxes(whole)
        for r, row in enumerate(chart.rows):
            low = box.y1 - (0.2 + (r + 1) * pitch - 0.07) / grid.height
            first = None
            for c in range(number * columns, min((number + 1) * columns, len(chart.criteria))):
                column = c - number * columns
                x = (room.left + column * (inches + room.between)) / width
                axes = grid.figure.add_axes((x, low, inches / width, _HEIGHT / grid.height))
                first = first or axes
                _panel(axes, row, c, chart, top, inches)
                axes.tick_params(labelleft=column == 0, labelbottom=r == len(chart.rows) - 1)
                if r == 0:
                    panels.title(axes, titles[c])
            _row_label(grid, first, row, names, prompts, chart.rows[r - 1] if r else None)
        middle = (room.left + (width - panels.MARGIN - room.left) / 2) / width
        grid.figure.text(middle, box.y0 + 0.13 / grid.height, "rating", ha="center", va="center", size=panels.LABEL)
    return grid.figure


def _labels(chart: Distributions, width: float) -> tuple[dict[str, str], dict[str, str], float]:
    """Shortened names of judges and Eval-Prompts, and the width in inches of the labels at the left."""
    size, most = panels.LABEL, _JUDGE_SHARE * width
    names = {row.name: panels.shortened(row.name, size, most, weight="bold") for row in chart.rows}
    prompts = {row.label: panels.shortened(row.label, size, 0.6 * most) for row in chart.rows}
    wide = max(panels.text_width(name, size, weight="bold") for name in names.values())
    more = max(panels.text_width(prompt, size) for prompt in prompts.values())
    return names, prompts, panels.MARGIN + wide + (1.5 * _SPACE + more if more else 0.0) + _SPACE


def _row_label(
    grid: panels.Panels,
    axes: Any,
    row: HistogramRow,
    names: dict[str, str],
    prompts: dict[str, str],
    before: HistogramRow | None,
) -> None:
    box = axes.get_position()
    y = (box.y0 + box.y1) / 2
    prompt = prompts[row.label]
    near = box.x0 - (_NUMBERS + _SPACE) / grid.width
    if prompt:
        grid.figure.text(near, y, prompt, ha="right", va="center_baseline", size=panels.LABEL)
        wide = max(panels.text_width(each, panels.LABEL) for each in prompts.values())
        near -= (wide + 1.5 * _SPACE) / grid.width
    if before is None or (before.name, before.group) != (row.name, row.group):
        # Without an Eval-Prompt (people) the name takes the room of both.
        grid.figure.text(near, y, names[row.name], ha="right", va="center_baseline", size=panels.LABEL, weight="bold")


def _panel(axes: Any, row: HistogramRow, criterion: int, chart: Distributions, top: float, inches: float) -> None:
    histogram, people = row.cells[criterion], chart.people(criterion)
    panels.plain(axes)
    axes.set_ylim(0, 100 * top)
    step = 50 if 100 * top > 60 else 20
    axes.set_yticks([value for value in (0, step, 2 * step) if value <= 80 * top])
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", color=panels.GRID, linewidth=0.4)
    axes.set_axisbelow(True)
    if not histogram.points:
        axes.set_xticks([])
        axes.text(0.5, 0.4, histogram.reason, ha="center", size=_SMALL, style="italic", transform=axes.transAxes)
        return
    unit = _bars(axes, histogram, row)
    if row.kind != "people" and people is not None:
        edges = [people.points[0] - unit / 2, *(point + unit / 2 for point in people.points)]
        axes.stairs([100 * s for s in people.shares], edges, color="black", linewidth=0.8, baseline=None)
    axes.set_xlim(histogram.points[0] - 0.65 * unit, histogram.points[-1] + 0.65 * unit)
    shown = histogram.points if len(histogram.points) < 8 else histogram.points[:: max(1, len(histogram.points) // 4)]
    # Words where all have room.
    room = inches / len(histogram.points)
    fits = histogram.words and all(panels.text_width(word, panels.LABEL) < room for word in histogram.words)
    axes.set_xticks(
        shown, histogram.words if fits and len(shown) == len(histogram.words) else [f"{point:g}" for point in shown]
    )
    axes.text(0.02, 0.98, histogram.size, ha="left", va="top", size=_SMALL, transform=axes.transAxes)


def _bars(axes: Any, histogram: Histogram, row: HistogramRow) -> float:
    unit = histogram.points[1] - histogram.points[0] if len(histogram.points) > 1 else 1.0
    # People are the grey of paper, judges a colour: told apart by luminance too.
    colour, edge = ("#8a8a8a", "#444444") if row.kind == "people" else (SKY, BLUE)
    hatch = {"hatch": "//////"} if row.kind == "control" else {}
    style: dict[str, Any] = {"width": 0.8 * unit, "color": colour, "edgecolor": edge, "linewidth": 0.4, **hatch}
    axes.bar(histogram.points, [100 * s for s in histogram.shares], **style)
    return unit
