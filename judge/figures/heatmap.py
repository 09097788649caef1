"""The heat map of correlations: judge x Eval-Prompt by criterion. Shows an undefined cell as undefined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from judge.analysis.layout import CEILING, CONTROL, JUDGE, Layout, LayoutRow
from judge.figures import page
from judge.stats.estimate import Estimate

_CELL_WIDTH, _CELL_HEIGHT = 0.58, 0.27
_GAP = 0.4
"""Space between groups of rows and before the column of means, in cells."""
_LINE, _SMALL_LINE = 0.145, 0.095
_MARGIN, _SPACE = 0.15, 0.08
_LABEL = 9.0
_BAR = 0.12
_NAMES = {CEILING: "people (one against the rest)", CONTROL: "control (text surface)"}
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


def draw(layout: Layout) -> Any:
    """A matplotlib figure of one layout: values x100 in the cells, caption and signature beneath."""
    with page.style():
        return _draw(layout)


def _draw(layout: Layout) -> Any:
    from matplotlib.figure import Figure

    places = _places(layout.rows)
    left = _left_width(layout.rows)
    columns = len(layout.criteria) + (_GAP + 1 if _has_means(layout) else 0)
    inner_width, inner_height = columns * _CELL_WIDTH, (places[-1] + 1 if places else 1) * _CELL_HEIGHT
    width = max(left + inner_width + _BAR + 0.75, 5.2)
    text_width = width - 2 * _MARGIN
    caption = page.caption_lines(_caption(layout), text_width)
    signature = page.signature_lines(layout.signature, text_width)
    foot = _MARGIN + len(signature) * _SMALL_LINE + 0.1 + len(caption) * _LINE + 0.12
    height = foot + inner_height + 0.42
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes(
        (left / width, foot / height, inner_width / width, inner_height / height),
        xlim=(0, columns),
        ylim=(inner_height / _CELL_HEIGHT, 0),
    )
    axes.set_axis_off()
    scale = _scale([*layout.cells, *(row.mean for row in layout.rows)])
    for row, place in zip(layout.rows, places, strict=True):
        for x, cell in enumerate(row.cells):
            _cell(axes, x, place, cell, scale)
        if _has_means(layout):
            _cell(axes, len(row.cells) + _GAP, place, row.mean, scale)
    _labels(axes, layout, places)
    _colour_bar(figure, scale, ((left + inner_width + 0.14) / width, foot / height), (width, height), inner_height)
    _text(figure, caption, signature, (width, height))
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


def _indent(rows: Sequence[LayoutRow]) -> float:
    """Inches from the cells to the right end of the judges' names: the Eval-Prompts stand between."""
    prompts = [page.text_width(row.eval_prompt, _LABEL) for row in rows if row.eval_prompt]
    return _SPACE + max(prompts, default=0.0) + 1.5 * _SPACE


def _left_width(rows: Sequence[LayoutRow]) -> float:
    """Inches for the labels left of the cells."""
    judges = [_indent(rows) + page.text_width(row.judge, _LABEL, weight="bold") for row in rows if row.kind == JUDGE]
    others = [_SPACE + page.text_width(_NAMES[row.kind], _LABEL, style="italic") for row in rows if row.kind != JUDGE]
    return _MARGIN + max([*judges, *others], default=0.0)


def _scale(cells: Sequence[Estimate]) -> _Scale:
    values = [cell.value for cell in cells if cell.value is not None]
    top = max((abs(value) for value in values), default=0.1)
    # A printed -0 is no sign that matters: colours part only where a printed value is below 0.
    if any(round(100 * value) < 0 for value in values):
        return _Scale(-top, top, "RdBu")
    return _Scale(0.0, top or 0.1, "cividis")


def _cell(axes: Any, x: float, y: float, cell: Estimate, scale: _Scale) -> None:
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
    axes.text(x + 0.5, y + 0.5, text, ha="center", va="center_baseline", size=8.5, color=ink)


def _luminance(colour: Sequence[float]) -> float:
    """Relative luminance of an sRGB colour (WCAG 2.1)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _labels(axes: Any, layout: Layout, places: Sequence[float]) -> None:
    heads = list(layout.short) + (["mean"] if _has_means(layout) else [])
    for x, name in enumerate(heads):
        at = x + 0.5 + (_GAP if x == len(layout.short) else 0)
        axes.text(at, -0.2, name, ha="center", va="bottom", size=_LABEL, weight="bold")
    near, far = -_SPACE / _CELL_WIDTH, -_indent(layout.rows) / _CELL_WIDTH
    named: set[str] = set()
    for row, place in zip(layout.rows, places, strict=True):
        y = place + 0.5
        if row.kind != JUDGE:
            axes.text(near, y, _NAMES[row.kind], ha="right", va="center_baseline", size=_LABEL, style="italic")
            continue
        axes.text(near, y, row.eval_prompt, ha="right", va="center_baseline", size=_LABEL)
        if row.judge not in named:
            axes.text(far, y, row.judge, ha="right", va="center_baseline", size=_LABEL, weight="bold")
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


def _text(figure: Any, caption: Sequence[str], signature: Sequence[str], size: tuple[float, float]) -> None:
    width, height = size
    y = _MARGIN
    for line in reversed(signature):
        figure.text(_MARGIN / width, y / height, line, size=page.SIGNATURE_SIZE, color="#555555", family="monospace")
        y += _SMALL_LINE
    y += 0.1
    for line in reversed(caption):
        figure.text(_MARGIN / width, y / height, line, size=page.CAPTION_SIZE)
        y += _LINE


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
    if any(row.kind == CONTROL for row in layout.rows):
        text += " The control looks at the surface of a text alone and is no language model; it is out of fold."
    return text


def _why(layout: Layout) -> str:
    reasons = dict.fromkeys(cell.reason for cell in layout.cells if not cell.defined and cell.reason)
    return f"; {'; '.join(reasons)}" if 0 < len(reasons) <= 2 else ", for the reasons in the table"
