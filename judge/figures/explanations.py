"""The map of explanations: a point for each, marked by criterion, cluster or rating. Never reads a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from judge.errors import OptionError, SpecError
from judge.figures import legend, page, panels
from judge.figures.series import SIGNS, Sign
from judge.wording import Advice, joined

BY = ("criterion", "cluster", "rating", "eval_prompt", "judge", "system")
OTHERS = Sign("#b8b8b8", ".")
"""Points of no cluster, of the clusters beyond the largest, and without a rating."""

_MOST = len(SIGNS)
_SHAPE = 0.66
_BAR = 0.5

Point = Mapping[str, Any]


class Map(Protocol):
    """What `judge explain` stores of one result folder."""

    @property
    def signature(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def method(self) -> str: ...
    @property
    def points(self) -> Sequence[Point]: ...
    @property
    def keywords(self) -> Mapping[str, Sequence[str]]: ...


def draw(found: Map, by: str, width: float, *, dataset: str = "") -> Any:
    """A matplotlib figure so many inches wide.

    Parameters
    ----------
    found : Map
        Its points have `x, y` (all of them) and what `by` names; a `cluster` of -1 is none.
    by : str
        One of `BY`.
    """
    if by not in BY:
        raise OptionError("by", by, allowed=BY)
    if not found.points:
        raise SpecError("there is no explanation to draw", hint="judge explain RUN makes the map")
    with page.style():
        return _draw(found, by, width, dataset)


def _draw(found: Map, by: str, width: float, dataset: str) -> Any:
    narrow = width < panels.NARROW
    continuous = by == "rating"
    groups = [] if continuous else _groups(found.points, by)
    entries = [(f"{name}{_words(found, by, name)} ({len(points):,})", sign) for name, sign, points in groups]
    rows = legend.rows(entries, width - 2 * page.MARGIN)
    right = _BAR if continuous else 0.0
    room = panels.Room(page.MARGIN, above=0.05, below=0.12, between=0.0, top=legend.height(rows))
    caption = _caption(found, by, groups, dataset)
    foot = page.Foot.of(caption, found.signature, width - 2 * page.MARGIN, 6.5 if narrow else 7.5)
    inner = width - 2 * page.MARGIN - right
    made = panels.make(1, width, _SHAPE * inner, room, foot, columns=1, widest=inner)
    (axes,) = made.axes
    axes.set_xticks([])
    axes.set_yticks([])
    for side in axes.spines.values():
        side.set_linewidth(0.4)
        side.set_color("#888888")
    # The fewer the points, the larger they are drawn.
    size = min(14.0, max(1.6, 16000.0 * (inner / 6.1) ** 2 / len(found.points)))
    if continuous:
        _ratings(made, axes, found.points, size)
    else:
        _signs(axes, groups, size)
        if by == "cluster":
            _numbers(axes, groups)
        legend.draw(made, rows, lines=False)
    axes.margins(0.03)
    return made.figure


def _groups(points: Sequence[Point], by: str) -> list[tuple[str, Sign, list[Point]]]:
    """Groups with their signs in order of appearance (clusters by number), the rest grey and first, so beneath."""
    none = {None, -1} if by == "cluster" else {None}
    counts: Counter[Any] = Counter(point.get(by) for point in points if point.get(by) not in none)
    if not counts:
        raise SpecError(f"the points of this map have no {by}", hint=Advice("{by} takes {}", ", ".join(BY)))
    if by == "cluster":
        shown = sorted((name for name, _ in counts.most_common(_MOST)), key=int)
    else:
        shown = list(counts)
        if len(shown) > _MOST:
            raise SpecError(
                f"{len(shown)} values of {by} are too many to tell apart; at most {_MOST}",
                hint=Advice("choose with {criterion}, {judge} or {eval_prompt}"),
            )
    found: list[tuple[str, Sign, list[Point]]] = []
    rest = [point for point in points if point.get(by) not in set(shown)]
    if rest:
        found.append(("other clusters, or none" if by == "cluster" else f"no {by}", OTHERS, rest))
    for name, sign in zip(shown, SIGNS, strict=False):
        found.append((str(name), sign, [point for point in points if point.get(by) == name]))
    return found


def _words(found: Map, by: str, name: str) -> str:
    """A cluster's three best words."""
    words = found.keywords.get(name, ()) if by == "cluster" else ()
    return f": {', '.join(words[:3])}" if words else ""


def _signs(axes: Any, groups: Sequence[tuple[str, Sign, Sequence[Point]]], size: float) -> None:
    for _, sign, points in groups:
        x, y = [point["x"] for point in points], [point["y"] for point in points]
        axes.scatter(
            x,
            y,
            s=size,
            marker=sign.marker,
            facecolors=sign.face if sign.filled else "none",
            edgecolors=sign.colour,
            linewidths=0.0 if sign.filled else 0.35,
            alpha=0.75,
            rasterized=len(x) > 500,
        )


def _numbers(axes: Any, groups: Sequence[tuple[str, Sign, Sequence[Point]]]) -> None:
    """Clusters' numbers above their middles: a cluster is one place. Groups that are not have their signs alone."""
    import numpy as np
    from matplotlib.patheffects import withStroke

    places: list[tuple[float, float]] = []
    everything = [(float(point["x"]), float(point["y"])) for _, _, points in groups for point in points]
    spans = [max(max(values) - min(values), 1e-9) for values in zip(*everything, strict=True)]
    for name, sign, points in groups:
        at = (float(np.median([p["x"] for p in points])), float(np.median([p["y"] for p in points])))
        # Where two clusters lie on one another their numbers would too: the key above tells them then.
        near = any(abs(at[0] - x) < 0.06 * spans[0] and abs(at[1] - y) < 0.08 * spans[1] for x, y in places)
        if sign is OTHERS or near:
            continue
        places.append(at)
        style: dict[str, Any] = {"ha": "center", "va": "bottom", "size": panels.LABEL, "weight": "bold"}
        text = axes.annotate(name, at, xytext=(0, 3), textcoords="offset points", **style)
        text.set_path_effects([withStroke(linewidth=2.0, foreground="white")])


def _ratings(made: panels.Panels, axes: Any, points: Sequence[Point], size: float) -> None:
    """Dark is low, light is high, in grey as in colour."""
    rated = [point for point in points if point.get("rating") is not None]
    without = [point for point in points if point.get("rating") is None]
    if without:
        axes.scatter(
            [p["x"] for p in without], [p["y"] for p in without], s=size, marker="x", color="#b8b8b8", linewidths=0.4,
            rasterized=len(without) > 500,
        )  # fmt: skip
    if not rated:
        hint = joined(Advice("{by}", by="criterion"), " or ", Advice("{by}", by="cluster"))
        raise SpecError("no explanation of this map has a rating", hint=hint)
    drawn = axes.scatter(
        [p["x"] for p in rated], [p["y"] for p in rated], s=size, c=[float(p["rating"]) for p in rated], cmap="viridis",
        linewidths=0.0, rasterized=len(rated) > 500,
    )  # fmt: skip
    box = axes.get_position()
    tall = min(box.height, 1.8 / made.height)
    place = (box.x1 + 0.08 / made.width, box.y1 - tall, 0.1 / made.width, tall)
    bar = made.figure.colorbar(drawn, cax=made.figure.add_axes(place))
    bar.outline.set_linewidth(0.4)
    bar.ax.tick_params(labelsize=panels.TICK, width=0.4, length=2, pad=1.5)


def _caption(found: Map, by: str, groups: Sequence[tuple[str, Sign, Sequence[Point]]], dataset: str) -> str:
    judges = sorted({str(point["judge"]) for point in found.points if point.get("judge")})
    who = f" by {', '.join(judges)}" if 0 < len(judges) < 4 else f" by {len(judges)} judges" if judges else ""
    where = f", {dataset}" if dataset else ""
    text = f"{len(found.points):,} explanations{who}{where}, by {by.replace('eval_prompt', 'Eval-Prompt')}"
    text += f"; {found.method} (settings and seed in the last line), texts embedded by {found.model}."
    if by == "rating":
        without = sum(point.get("rating") is None for point in found.points)
        text += " Colour: rating in points of the scale, dark is low."
        text += f" Crosses: {without:,} without a rating." if without else ""
    elif any(sign is OTHERS for _, sign, _ in groups):
        text += " Grey: the rest."
    for name in ("UMAP", "t-SNE"):
        if name.casefold() in found.method.casefold():
            return (
                f"{text} A {name} keeps neighbours: its distances, areas and densities are not to be read as measures."
            )
    return text + " The plane shows a part of the distances only: they are not to be read as measures."
