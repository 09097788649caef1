"""The figure of the explanation map: a point for each text. Groups differ in shape and colour, ratings in lightness."""

from __future__ import annotations

from typing import Any

from judge.base.errors import SpecError
from judge.base.wording import Advice
from judge.questions.charts.explanation_map import Colouring, ExplanationMap, Group
from judge.questions.charts.shared import OTHERS, SIGNS
from judge.questions.figures import panels

Places = list[tuple[float, float]]

_MOST = len(SIGNS)
_SHAPE = 0.66
_BAR = 0.5


def draw(chart: ExplanationMap, width: float, way: int = 0) -> Any:
    """Figure `width` inches wide, whose points are marked by `chart.colourings[way]`. Raises SpecError where there are
    too many groups to distinguish.
    """
    colouring = chart.colourings[way]
    groups = [group for group in colouring.groups if group.sign is not OTHERS]
    if colouring.ratings is None and len(groups) > _MOST:
        raise SpecError(
            f"{len(groups)} values of {colouring.by} are too many to distinguish; at most {_MOST}",
            hint=Advice("choose with {criterion}, {judge} or {eval_prompt}"),
        )
    with panels.style():
        return _draw(chart, colouring, width)


def _draw(chart: ExplanationMap, colouring: Colouring, width: float) -> Any:
    narrow = width < panels.NARROW
    continuous = colouring.ratings is not None
    groups = [] if continuous else _groups(chart, colouring)
    rows = panels.rows([(f"{g.full_name} ({g.n:,})", g.sign) for g, _ in groups], width - 2 * panels.MARGIN)
    right = _BAR if continuous else 0.0
    room = panels.Room(panels.MARGIN, above=0.05, below=0.12, between=0.0, top=panels.height(rows))
    foot = panels.Foot.of(
        chart.caption + colouring.note, chart.signature, width - 2 * panels.MARGIN, 6.5 if narrow else 7.5
    )
    inner = width - 2 * panels.MARGIN - right
    grid = panels.make(1, width, _SHAPE * inner, room, foot, columns=1, widest=inner)
    (axes,) = grid.axes
    axes.set_xticks([])
    axes.set_yticks([])
    for side in axes.spines.values():
        side.set_linewidth(0.4)
        side.set_color("#888888")
    # The fewer the points, the larger they are drawn.
    size = min(14.0, max(1.6, 16000.0 * (inner / 6.1) ** 2 / len(chart.places)))
    if colouring.ratings is not None:
        _ratings(grid, axes, chart, colouring.ratings, size)
    else:
        _signs(axes, groups, size)
        if colouring.by == "cluster":
            _numbers(axes, groups)
        panels.draw(grid, rows, lines=False)
    axes.margins(0.03)
    return grid.figure


def _groups(chart: ExplanationMap, colouring: Colouring) -> list[tuple[Group, Places]]:
    places: list[Places] = [[] for _ in colouring.groups]
    for point, group in zip(chart.places, colouring.of_point, strict=True):
        places[group].append(point)
    # Points of no named group are drawn at the bottom.
    return sorted(zip(colouring.groups, places, strict=True), key=lambda pair: pair[0].sign is not OTHERS)


def _signs(axes: Any, groups: list[tuple[Group, Places]], size: float) -> None:
    for group, places in groups:
        sign = group.sign
        axes.scatter(
            [x for x, _ in places],
            [y for _, y in places],
            s=size,
            marker=sign.marker,
            facecolors=sign.face if sign.filled else "none",
            edgecolors=sign.colour,
            linewidths=0.0 if sign.filled else 0.35,
            alpha=0.75,
            rasterized=len(places) > 500,
        )


def _numbers(axes: Any, groups: list[tuple[Group, Places]]) -> None:
    """Each cluster's number above the median of its points; one that would lie on an earlier one is left out."""
    import numpy as np
    from matplotlib.patheffects import withStroke

    named: Places = []
    everything = [point for _, places in groups for point in places]
    spans = [max(max(values) - min(values), 1e-9) for values in zip(*everything, strict=True)]
    for group, places in groups:
        at = (float(np.median([x for x, _ in places])), float(np.median([y for _, y in places])))
        # Where two clusters lie on one another their numbers would too: the key above tells them then.
        near = any(abs(at[0] - x) < 0.06 * spans[0] and abs(at[1] - y) < 0.08 * spans[1] for x, y in named)
        if group.sign is OTHERS or near:
            continue
        named.append(at)
        style: dict[str, Any] = {"ha": "center", "va": "bottom", "size": panels.LABEL, "weight": "bold"}
        text = axes.annotate(group.name, at, xytext=(0, 3), textcoords="offset points", **style)
        text.set_path_effects([withStroke(linewidth=2.0, foreground="white")])


def _ratings(
    grid: panels.Panels, axes: Any, explanations: ExplanationMap, ratings: tuple[float | None, ...], size: float
) -> None:
    """From dark (low) to light (high), also in greyscale; crosses are without a rating."""
    points = list(zip(explanations.places, ratings, strict=True))
    without = [bounds for bounds, rating in points if rating is None]
    if without:
        axes.scatter(
            [x for x, _ in without], [y for _, y in without], s=size, marker="x", color=OTHERS.colour, linewidths=0.4,
            rasterized=len(without) > 500,
        )  # fmt: skip
    rated = [(bounds, rating) for bounds, rating in points if rating is not None]
    drawn = axes.scatter(
        [x for (x, _), _ in rated], [y for (_, y), _ in rated], s=size, c=[rating for _, rating in rated],
        cmap="cividis", linewidths=0.0, rasterized=len(rated) > 500,
    )  # fmt: skip
    box = axes.get_position()
    tall = min(box.height, 1.8 / grid.height)
    bounds = (box.x1 + 0.08 / grid.width, box.y1 - tall, 0.1 / grid.width, tall)
    bar = grid.figure.colorbar(drawn, cax=grid.figure.add_axes(bounds))
    bar.outline.set_linewidth(0.4)
    bar.ax.tick_params(labelsize=panels.TICK, width=0.4, length=2, pad=1.5)
