"""The forest figure: estimates with intervals in panels side by side, with the names of the rows once at the left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from judge.base.estimate import Estimate
from judge.questions.charts.forest import Band, Forest
from judge.questions.charts.shared import Sign
from judge.questions.figures import panels

# Inches of a row; space before another judge's rows, in rows.
_PITCH, _GROUP_GAP = 0.145, 0.5
_JUDGE_SHARE = 0.24
_SPACE = 0.06
# Least inches of a panel in a narrow figure, and in a wide one.
_LEAST = {True: 0.46, False: 0.58}


def draw(forest: Forest, width: float) -> Any:
    """Figure of a forest chart, `width` inches wide."""
    with panels.style():
        return _draw(forest, width)


def _draw(forest: Forest, width: float) -> Any:
    narrow = width < panels.NARROW
    judges = {line.group: line.group for line in forest.lines}
    judges = {n: panels.shortened(n, panels.LABEL, _JUDGE_SHARE * width, weight="bold") for n in judges}
    names = max(panels.text_width(name, panels.LABEL, weight="bold") for name in judges.values())
    # What short names leave of their share is the labels'.
    long = max(0.6 * _JUDGE_SHARE * width, 1.6 * _JUDGE_SHARE * width - names)
    labels = {n: panels.shortened(n, panels.LABEL, long) for n in (x.label for x in forest.lines)}
    indent = max(panels.text_width(name, panels.LABEL) for name in labels.values()) + _SPACE
    left = panels.MARGIN + names + (1.5 * _SPACE if names else 0) + indent
    rows = panels.rows(_entries(forest), width - 2 * panels.MARGIN)
    room = panels.Room(left, above=0.2, below=0.33, between=0.12, top=panels.height(rows))
    columns = panels.columns_for(len(forest.panels), width, room, _LEAST[narrow])
    inches = (width - left - panels.MARGIN - (columns - 1) * room.between) / columns
    titles, meaning = panels.abbreviated(forest.panels, forest.short, inches)
    caption = forest.caption + meaning
    foot = panels.Foot.of(caption, forest.signature, width - 2 * panels.MARGIN, 6.5 if narrow else 7.5)
    pitch = max(_PITCH, 0.085 * len(forest.series) + 0.04)
    places = forest.places(_GROUP_GAP)
    height = (places[-1] + 1) * pitch
    grid = panels.make(len(forest.panels), width, height, room, foot, columns=columns)
    limits = forest.limits
    for number, (axes, name) in enumerate(zip(grid.axes, titles, strict=True)):
        _panel(axes, forest, number, places, limits)
        panels.title(axes, name)
    for first, _ in grid.row_ends():
        _labels(grid, first, forest, places, (judges, labels), indent)
    panels.axis_title(grid, forest.axes, drop=0.17)
    panels.draw(grid, rows)
    return grid.figure


def _panel(axes: Any, forest: Forest, number: int, places: Sequence[float], limits: tuple[float, float]) -> None:
    panels.plain(axes)
    axes.set_xlim(*limits)
    axes.set_ylim(places[-1] + 1, 0)
    axes.set_yticks([])
    inches = axes.get_position().width * axes.figure.get_size_inches()[0]
    axes.set_xticks(*panels.ticks(*limits, inches))
    axes.grid(axis="x", color=panels.GRID, linewidth=0.4)
    axes.set_axisbelow(True)
    if limits[0] < 0 < limits[1]:
        axes.axvline(0, color="#888888", linewidth=0.6, zorder=1)
    for band in forest.bands:
        _band(axes, band, band.estimates[number], forest.factor)
    for line, y in zip(forest.lines, places, strict=True):
        step = 1 / (len(forest.series) + 1)
        for k, (estimate, (_, sign)) in enumerate(zip(line.cells[number], forest.series, strict=True)):
            if estimate is not None:
                _mark(axes, estimate, y + (k + 1) * step, line.sign or sign, forest.factor)


def _band(axes: Any, band: Band, estimate: Estimate, factor: float) -> None:
    if estimate.value is None:
        return
    if estimate.low is not None and estimate.high is not None:
        ends = (factor * estimate.low, factor * estimate.high)
        axes.axvspan(*ends, zorder=0.5, linewidth=0, **panels.Bar(band.hatched).style)
    dash = (0, (3, 2)) if band.hatched else "solid"
    axes.axvline(factor * estimate.value, color="#444444", linewidth=0.9, linestyle=dash, zorder=1.5)


def _mark(axes: Any, estimate: Estimate, y: float, sign: Sign, factor: float) -> None:
    if estimate.value is None:
        low, high = axes.get_xlim()
        axes.text((low + high) / 2, y, "undefined", ha="center", va="center", size=5.5, style="italic", color="#555555")
        return
    if estimate.low is not None and estimate.high is not None:
        ends = (factor * estimate.low, factor * estimate.high)
        axes.plot(ends, (y, y), color=sign.colour, linewidth=1.0, linestyle=sign.dash, solid_capstyle="butt", zorder=2)
    axes.plot(
        [factor * estimate.value],
        [y],
        marker=sign.marker,
        markersize=3.4,
        markerfacecolor=sign.face,
        markeredgecolor=sign.colour,
        markeredgewidth=0.8,
        linestyle="none",
        zorder=3,
        clip_on=False,
    )


def _labels(
    grid: panels.Panels,
    axes: Any,
    forest: Forest,
    places: Sequence[float],
    names: tuple[dict[str, str], dict[str, str]],
    indent: float,
) -> None:
    """Rows' names at the left, in `indent` inches; consecutive lines of one judge share its name."""
    box = axes.get_position()
    near, far = box.x0 - _SPACE / grid.width, box.x0 - (indent + 1.5 * _SPACE) / grid.width
    before: str | None = None
    for line, y_line in zip(forest.lines, places, strict=True):
        y = box.y1 - (y_line + 0.5) / (places[-1] + 1) * box.height
        grid.figure.text(near, y, names[1][line.label], ha="right", va="center_baseline", size=panels.LABEL)
        if line.group != before:
            grid.figure.text(
                far, y, names[0][line.group], ha="right", va="center_baseline", size=panels.LABEL, weight="bold"
            )
        before = line.group


def _entries(forest: Forest) -> list[panels.Entry]:
    entries: list[panels.Entry] = [
        (band.name, panels.Bar(band.hatched, band.wide)) for band in forest.bands if band.defined
    ]
    if len(forest.series) > 1:
        entries = [*forest.series, *entries]
    return entries
