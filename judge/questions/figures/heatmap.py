"""The heat-map figure: a value in each cell, the rows of one judge next to each other, and undefined cells hatched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from judge.questions.charts.heatmap import HeatCell, HeatMap, HeatRow, Scale
from judge.questions.figures import panels

_CELL_WIDTH, _CELL_HEIGHT = 0.58, 0.27
# Space between groups of rows and before the column of means, in cells.
_GAP = 0.4
_MARGIN, _SPACE = panels.MARGIN, 0.08
# The colour bar, and the room its numbers take.
_BAR, _RIGHT = 0.12, 0.6
_LEAST_WIDTH = 5.2
# Of a figure of given width, what judges' names may take.
_JUDGE_SHARE = 0.3
_UNDEFINED = "#f2f2f2"


@dataclass(frozen=True, slots=True)
class _Form:
    """Sizes: cells in inches, fonts in points; `names` are those of rows as printed."""

    cell_width: float
    cell_height: float
    label: float
    number: float
    caption: float
    names: dict[str, str]


def draw(chart: HeatMap, width: float | None = None) -> Any:
    """Figure of a heat map, `width` inches wide; None = as wide as the content needs."""
    with panels.style():
        return _draw(chart, width)


def _form(chart: HeatMap, width: float | None) -> _Form:
    if width is None:
        names = {row.name: row.name for row in chart.rows}
        return _Form(_CELL_WIDTH, _CELL_HEIGHT, 9.0, 8.5, panels.CAPTION_SIZE, names)
    narrow = width < _LEAST_WIDTH
    label = 7.0 if narrow else 8.0
    names = {
        row.name: (row.short_name if narrow else row.name)
        if row.is_bar
        else panels.shortened(row.name, label, _JUDGE_SHARE * width, weight="bold")
        for row in chart.rows
    }
    form = _Form(0.0, 0.2 if narrow else 0.24, label, 6.5 if narrow else 8.0, 6.5 if narrow else 7.5, names)
    # In a column the numbers must do without the bar of colours.
    room = width - _left_width(chart.rows, form) - (_MARGIN if narrow else _BAR + _RIGHT)
    return replace(form, cell_width=room / _columns(chart))


def _columns(chart: HeatMap) -> float:
    return len(chart.columns) + (_GAP if chart.apart else 0)


def _draw(chart: HeatMap, asked: float | None) -> Any:
    from matplotlib.figure import Figure

    form = _form(chart, asked)
    places = chart.places(_GAP)
    left = _left_width(chart.rows, form)
    columns = _columns(chart)
    inner_width, inner_height = columns * form.cell_width, (places[-1] + 1 if places else 1) * form.cell_height
    width = asked or max(left + inner_width + _BAR + _RIGHT, _LEAST_WIDTH)
    foot = panels.Foot.of(chart.caption, chart.signature, width - 2 * _MARGIN, form.caption)
    below = foot.height + 0.05
    height = below + inner_height + 0.36
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes(
        (left / width, below / height, inner_width / width, inner_height / height),
        xlim=(0, columns),
        ylim=(inner_height / form.cell_height, 0),
    )
    axes.set_axis_off()
    for row, y in zip(chart.rows, places, strict=True):
        for i, cell in enumerate(row.cells):
            _cell(axes, _x(chart, i), y, cell, chart.scale, form)
    _labels(axes, chart, places, form)
    if asked is None or asked >= _LEAST_WIDTH:
        corner = ((left + inner_width + 0.1) / width, below / height)
        _colour_bar(figure, chart.scale, corner, (width, height), inner_height)
    foot.write(figure)
    return figure


def _x(chart: HeatMap, column: int) -> float:
    return column + (_GAP if column >= len(chart.columns) - chart.apart else 0.0)


def _indent(rows: Sequence[HeatRow], form: _Form) -> float:
    """Inches from the cells to the right end of the judges' names; the Eval-Prompts' are in this space."""
    return _SPACE + max((panels.text_width(row.label, form.label) for row in rows), default=0.0) + 1.5 * _SPACE


def _left_width(rows: Sequence[HeatRow], form: _Form) -> float:
    indent, size = _indent(rows, form), form.label
    judges = [indent + panels.text_width(form.names[r.name], size, weight="bold") for r in rows if not r.is_bar]
    others = [_SPACE + panels.text_width(form.names[r.name], size, style="italic") for r in rows if r.is_bar]
    return _MARGIN + max([*judges, *others], default=0.0)


def _cell(axes: Any, x: float, y: float, cell: HeatCell, scale: Scale, form: _Form) -> None:
    from matplotlib.patches import Rectangle

    if cell.value is None:
        box = Rectangle((x, y), 1, 1, facecolor=_UNDEFINED, edgecolor="#9a9a9a", hatch="/////", linewidth=0)
        axes.add_patch(box)
        axes.add_patch(Rectangle((x, y), 1, 1, fill=False, edgecolor="white", linewidth=0.8))
        return
    axes.add_patch(Rectangle((x, y), 1, 1, facecolor=scale.colour(cell.value), edgecolor="white", linewidth=0.8))
    ink = scale.ink(cell.value)
    axes.text(x + 0.5, y + 0.5, cell.shown, ha="center", va="center_baseline", size=form.number, color=ink)


def _labels(axes: Any, chart: HeatMap, places: Sequence[float], form: _Form) -> None:
    for i, name in enumerate(chart.columns):
        axes.text(_x(chart, i) + 0.5, -0.2, name, ha="center", va="bottom", size=form.label, weight="bold")
    near, far = -_SPACE / form.cell_width, -_indent(chart.rows, form) / form.cell_width
    style: dict[str, Any] = {"ha": "right", "va": "center_baseline", "size": form.label}
    for i, (row, row_y) in enumerate(zip(chart.rows, places, strict=True)):
        y = row_y + 0.5
        if row.is_bar:
            axes.text(near, y, form.names[row.name], fontstyle="italic", **style)
            continue
        axes.text(near, y, row.label, **style)
        if chart.begins(i):
            axes.text(far, y, form.names[row.name], weight="bold", **style)


def _colour_bar(
    figure: Any, scale: Scale, corner: tuple[float, float], size: tuple[float, float], inner_height: float
) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    tall = min(inner_height, 2.4)
    bottom = corner[1] + (inner_height - tall) / size[1]
    axes = figure.add_axes((corner[0], bottom, _BAR / size[0], tall / size[1]))
    colours = LinearSegmentedColormap.from_list("scale", scale.steps)
    bar = figure.colorbar(ScalarMappable(Normalize(scale.low, scale.high), colours), cax=axes)
    bar.outline.set_linewidth(0.4)
    axes.tick_params(labelsize=7, width=0.4, length=2)
