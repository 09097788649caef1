"""The heat map of correlations: judge x Eval-Prompt by criterion. Shows an undefined cell as undefined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from judge.analysis.agreement.correlation_grid import CEILING, CONTROL, JUDGE, Layout, LayoutRow
from judge.figures import page
from judge.stats.estimate import Estimate

_CELL_WIDTH, _CELL_HEIGHT = 0.58, 0.27
_GAP = 0.4
"""Space between groups of rows and before the column of means, in cells."""
_MARGIN, _SPACE = page.MARGIN, 0.08
_BAR, _RIGHT = 0.12, 0.6
"""The colour bar, and the room its numbers take."""
_LEAST_WIDTH = 5.2
_JUDGE_SHARE = 0.3
"""Of a figure of given width, what judges' names may take."""
_NAMES = {CEILING: "people (one against the rest)", CONTROL: "control (text surface)"}
_SHORT_NAMES = {CEILING: "people", CONTROL: "control"}
_UNDEFINED = "#f2f2f2"
_INK = 0.179
"""Luminance at which black and white text have the same contrast (WCAG 2.1)."""


@dataclass(frozen=True, slots=True)
class _Scale:
    """Colours by value: cividis from 0 up, or, where a value is below 0, a diverging map with 0 in the middle."""

    low: float
    high: float
    colours: str

    def rgba(self, value: float) -> tuple[float, float, float, float]:
        from matplotlib import colormaps

        share = (value - self.low) / (self.high - self.low)
        r, g, b, a = colormaps[self.colours](min(1.0, max(0.0, share)))
        return float(r), float(g), float(b), float(a)


@dataclass(frozen=True, slots=True)
class _Form:
    """How large: a cell's inches, type in points, names of the rows that are no judge's, judges' names as shown."""

    cell_width: float
    cell_height: float
    label: float
    number: float
    caption: float
    names: dict[str, str]
    judges: dict[str, str]


def draw(layout: Layout, width: float | None = None, note: str = "") -> Any:
    """A matplotlib figure of one layout: values x100 in the cells, caption and signature beneath.

    It is as wide as it needs to be, or, with `width`, so many inches. `note` ends the caption.
    """
    with page.style():
        return _draw(layout, width, note)


def _form(layout: Layout, width: float | None) -> _Form:
    judges = dict.fromkeys(row.judge for row in layout.rows)
    if width is None:
        return _Form(_CELL_WIDTH, _CELL_HEIGHT, 9.0, 8.5, page.CAPTION_SIZE, _NAMES, {name: name for name in judges})
    narrow = width < _LEAST_WIDTH
    label = 7.0 if narrow else 8.0
    short = {name: page.shortened(name, label, _JUDGE_SHARE * width, weight="bold") for name in judges}
    names = _SHORT_NAMES if narrow else _NAMES
    form = _Form(0.0, 0.2 if narrow else 0.24, label, 6.5 if narrow else 8.0, 6.5 if narrow else 7.5, names, short)
    # In a column the numbers must do without the bar of colours.
    room = width - _left_width(layout.rows, form) - (_MARGIN if narrow else _BAR + _RIGHT)
    return replace(form, cell_width=room / _columns(layout))


def _columns(layout: Layout) -> float:
    return len(layout.criteria) + (_GAP + 1 if _has_means(layout) else 0)


def _draw(layout: Layout, asked: float | None, note: str) -> Any:
    from matplotlib.figure import Figure

    form = _form(layout, asked)
    places = _places(layout.rows)
    left = _left_width(layout.rows, form)
    columns = _columns(layout)
    inner_width, inner_height = columns * form.cell_width, (places[-1] + 1 if places else 1) * form.cell_height
    width = asked or max(left + inner_width + _BAR + _RIGHT, _LEAST_WIDTH)
    foot = page.Foot.of(_caption(layout) + note, layout.signature, width - 2 * _MARGIN, form.caption)
    below = foot.height + 0.05
    height = below + inner_height + 0.36
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes(
        (left / width, below / height, inner_width / width, inner_height / height),
        xlim=(0, columns),
        ylim=(inner_height / form.cell_height, 0),
    )
    axes.set_axis_off()
    scale = _scale([*layout.cells, *(row.mean for row in layout.rows)])
    for row, place in zip(layout.rows, places, strict=True):
        for x, cell in enumerate(row.cells):
            _cell(axes, x, place, cell, scale, form)
        if _has_means(layout):
            _cell(axes, len(row.cells) + _GAP, place, row.mean, scale, form)
    _labels(axes, layout, places, form)
    if asked is None or asked >= _LEAST_WIDTH:
        _colour_bar(figure, scale, ((left + inner_width + 0.1) / width, below / height), (width, height), inner_height)
    foot.write(figure)
    return figure


def _has_means(layout: Layout) -> bool:
    """The mean over one criterion says nothing new."""
    return len(layout.criteria) > 1


def _places(rows: Sequence[LayoutRow]) -> list[float]:
    """Top of each row in cells: a gap wherever another judge begins."""
    places: list[float] = []
    for i, row in enumerate(rows):
        before = rows[i - 1] if i else row
        same = (before.kind, before.judge) == (row.kind, row.judge)
        places.append((places[-1] + 1 if places else 0.0) + (0.0 if same else _GAP))
    return places


def _indent(rows: Sequence[LayoutRow], form: _Form) -> float:
    """Inches from the cells to the right end of the judges' names: the Eval-Prompts stand between."""
    prompts = [page.text_width(row.eval_prompt, form.label) for row in rows if row.eval_prompt]
    return _SPACE + max(prompts, default=0.0) + 1.5 * _SPACE


def _left_width(rows: Sequence[LayoutRow], form: _Form) -> float:
    """Inches for the labels left of the cells."""
    indent, size = _indent(rows, form), form.label
    judges = [indent + page.text_width(form.judges[r.judge], size, weight="bold") for r in rows if r.kind == JUDGE]
    others = [_SPACE + page.text_width(form.names[r.kind], size, style="italic") for r in rows if r.kind != JUDGE]
    return _MARGIN + max([*judges, *others], default=0.0)


def _scale(cells: Sequence[Estimate]) -> _Scale:
    values = [cell.value for cell in cells if cell.value is not None]
    top = max((abs(value) for value in values), default=0.1)
    # A printed -0 is no sign that matters: colours part only where a printed value is below 0.
    if any(round(100 * value) < 0 for value in values):
        return _Scale(-top, top, "RdBu")
    return _Scale(0.0, top or 0.1, "cividis")


def _cell(axes: Any, x: float, y: float, cell: Estimate, scale: _Scale, form: _Form) -> None:
    from matplotlib.patches import Rectangle

    if cell.value is None:
        box = Rectangle((x, y), 1, 1, facecolor=_UNDEFINED, edgecolor="#9a9a9a", hatch="/////", linewidth=0)
        axes.add_patch(box)
        axes.add_patch(Rectangle((x, y), 1, 1, fill=False, edgecolor="white", linewidth=0.8))
        return
    colour = scale.rgba(cell.value)
    axes.add_patch(Rectangle((x, y), 1, 1, facecolor=colour, edgecolor="white", linewidth=0.8))
    text = f"{round(100 * cell.value)}".replace("-", "−")
    ink = "black" if _luminance(colour) > _INK else "white"
    axes.text(x + 0.5, y + 0.5, text, ha="center", va="center_baseline", size=form.number, color=ink)


def _luminance(colour: Sequence[float]) -> float:
    """Relative luminance of an sRGB colour (WCAG 2.1)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _labels(axes: Any, layout: Layout, places: Sequence[float], form: _Form) -> None:
    heads = list(layout.short) + (["mean"] if _has_means(layout) else [])
    for x, name in enumerate(heads):
        at = x + 0.5 + (_GAP if x == len(layout.short) else 0)
        axes.text(at, -0.2, name, ha="center", va="bottom", size=form.label, weight="bold")
    near, far = -_SPACE / form.cell_width, -_indent(layout.rows, form) / form.cell_width
    named: set[str] = set()
    for row, place in zip(layout.rows, places, strict=True):
        y = place + 0.5
        if row.kind != JUDGE:
            name = form.names[row.kind]
            axes.text(near, y, name, ha="right", va="center_baseline", size=form.label, style="italic")
            continue
        axes.text(near, y, row.eval_prompt, ha="right", va="center_baseline", size=form.label)
        if row.judge not in named:
            name = form.judges[row.judge]
            axes.text(far, y, name, ha="right", va="center_baseline", size=form.label, weight="bold")
            named.add(row.judge)


def _colour_bar(
    figure: Any, scale: _Scale, corner: tuple[float, float], size: tuple[float, float], inner_height: float
) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    tall = min(inner_height, 2.4)
    bottom = corner[1] + (inner_height - tall) / size[1]
    axes = figure.add_axes((corner[0], bottom, _BAR / size[0], tall / size[1]))
    norm = Normalize(100 * scale.low, 100 * scale.high)
    bar = figure.colorbar(ScalarMappable(norm, scale.colours), cax=axes)
    bar.outline.set_linewidth(0.4)
    axes.tick_params(labelsize=7, width=0.4, length=2)


def _caption(layout: Layout) -> str:
    systems = f"{layout.systems} systems" if layout.unit != "systems" else None
    counted = ", ".join(part for part in (layout.size, systems) if part)
    text = f"{layout.statistic} ×100 with people, {layout.where}, {layout.dataset} ({counted})."
    if layout.short != layout.criteria:
        names = (f"{short} {name}" for short, name in zip(layout.short, layout.criteria, strict=True))
        text += f" {', '.join(names)}."
    if layout.half_width is not None:
        text += f" Half-width of the 95 % intervals, median: {100 * layout.half_width:.0f}."
    if any(round(100 * cell.value) < 0 for cell in layout.cells if cell.value is not None):
        text += " White is 0, red below it."
    if any(not cell.defined for cell in layout.cells):
        text += " Hatched: undefined" + _why(layout) + "."
    text += layout.apart
    if any(row.kind == CONTROL for row in layout.rows):
        text += " The control looks at the surface of a text alone and is no language model"
        text += f" ({layout.control})." if layout.control else "."
    return text


def _why(layout: Layout) -> str:
    reasons = dict.fromkeys(cell.reason for cell in layout.cells if not cell.defined and cell.reason)
    return f"; {'; '.join(reasons)}" if 0 < len(reasons) <= 2 else ", for the reasons in the table"
