"""Chart of the explanation map: a point for each explanation, marked by criterion, cluster, rating or other values.

Both axes have the same scale. Only which points are close to each other is meaningful, not their coordinates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from judge.base.errors import OptionError, SpecError
from judge.base.wording import Advice, joined
from judge.questions.charts.shared import OTHERS, SIGNS, Sign

BY = ("criterion", "cluster", "rating", "eval_prompt", "judge", "system", "side")
# Clusters that have a sign of their own; points of the others stand with those of none.
LARGEST = len(SIGNS)

Point = Mapping[str, Any]


class Map(Protocol):
    """A map of explanations (each a point in the plane) as `judge explain` stores it."""

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


@dataclass(frozen=True, slots=True)
class Group:
    """Points with the same mark: their name, words that describe them (such as a cluster's keywords), and sign."""

    name: str
    words: tuple[str, ...]
    sign: Sign
    n: int

    @property
    def full_name(self) -> str:
        """Name, followed by the words that describe it."""
        return f"{self.name}: {', '.join(self.words)}" if self.words else self.name


@dataclass(frozen=True, slots=True)
class Colouring:
    """One way to mark the points, by a variable. `of_point` has the index of each point's group. `ratings` is set if
    the marks represent ratings (None = none), so that they can be drawn on a continuous colour scale.
    """

    by: str
    groups: tuple[Group, ...]
    of_point: tuple[int, ...]
    note: str
    ratings: tuple[float | None, ...] | None = None


@dataclass(frozen=True, slots=True)
class ExplanationMap:
    """Specification of the chart: the positions of the points, and the ways to mark them."""

    title: str
    places: tuple[tuple[float, float], ...]
    colourings: tuple[Colouring, ...]
    caption: str
    signature: str

    @property
    def alt(self) -> str:
        return "Each dot is an explanation; near dots use similar words."


def explanation_map(
    explanations: Map, ways: Sequence[str], *, dataset: str = "", sampled_of: int = 0
) -> ExplanationMap:
    """Chart with one way of marking the points for each of `ways`. The points are a sample of `sampled_of`. Raises
    SpecError for an unknown way, a map without points, and if no point has the value that a way needs.
    """
    for by in ways:
        if by not in BY:
            raise OptionError("by", by, allowed=BY)
    if not explanations.points:
        raise SpecError("there is no explanation to draw", hint="judge explain RUN makes the map")
    return ExplanationMap(
        title=f"Map of {len(explanations.points):,} explanations",
        places=tuple((float(point["x"]), float(point["y"])) for point in explanations.points),
        colourings=tuple(_colouring(explanations, by) for by in ways),
        caption=_caption(explanations, dataset, sampled_of),
        signature=explanations.signature,
    )


def _colouring(source: Map, by: str) -> Colouring:
    shown, value_of = _shown(source.points, by)
    groups = [
        Group(str(name), tuple(source.keywords.get(str(name), ())[:3]) if by == "cluster" else (), sign, 0)
        for name, sign in zip(shown, _signs(len(shown)), strict=True)
    ]
    values = [value_of(point) for point in source.points]
    index = {name: i for i, name in enumerate(shown)}
    if any(value not in index for value in values):
        rest = {"cluster": "other clusters, or none", "rating": "without a rating"}.get(by, f"no {by}")
        groups.append(Group(rest, (), OTHERS, 0))
    of_point = tuple(index.get(value, len(shown)) for value in values)
    counts = Counter(of_point)
    counted = tuple(Group(group.name, group.words, group.sign, counts[i]) for i, group in enumerate(groups))
    ratings = (
        tuple(None if p["rating"] is None else float(p["rating"]) for p in source.points) if by == "rating" else None
    )
    return Colouring(by, counted, of_point, _note(by, counted), ratings)


def _shown(points: Sequence[Point], by: str) -> tuple[list[Any], Any]:
    """Values that get a sign of their own, in order, and a function from a point to its value."""
    if by == "rating":
        rated = sorted({round(float(p["rating"])) for p in points if p.get("rating") is not None})
        if not rated:
            hint = joined(Advice("{by}", by="criterion"), " or ", Advice("{by}", by="cluster"))
            raise SpecError("no explanation of this map has a rating", hint=hint)
        return rated, lambda p: None if p.get("rating") is None else round(float(p["rating"]))
    none = {None, -1} if by == "cluster" else {None}
    counts: Counter[Any] = Counter(point.get(by) for point in points if point.get(by) not in none)
    if not counts:
        raise SpecError(f"the points of this map have no {by}", hint=Advice("{by} takes {}", ", ".join(BY)))
    shown = sorted((name for name, _ in counts.most_common(LARGEST)), key=int) if by == "cluster" else list(counts)
    return shown, lambda p: p.get(by)


def _signs(number: int) -> list[Sign]:
    return [SIGNS[i % len(SIGNS)] for i in range(number)]


def _caption(source: Map, dataset: str, sampled_of: int) -> str:
    judges = sorted({str(point["judge"]) for point in source.points if point.get("judge")})
    who = f" by {', '.join(judges)}" if 0 < len(judges) < 4 else f" by {len(judges)} judges" if judges else ""
    if sides := sorted({str(point["side"]) for point in source.points if point.get("side")}):
        who = f" by {', '.join(sides)}"
    where = f", {dataset}" if dataset else ""
    number = len(source.points)
    size = f"A seeded sample of {number:,} of {sampled_of:,}" if sampled_of > number else f"{number:,}"
    text = (
        f"{size} explanations{who}{where}; {source.method} (settings and seed in the last line), texts embedded by "
        f"{source.model}."
    )
    for name in ("UMAP", "t-SNE"):
        if name.casefold() in source.method.casefold():
            return (
                f"{text} A {name} map preserves neighbours: do not read its distances, areas or densities as measures."
            )
    return text + " The plane shows only a part of the distances: do not read them as measures."


def _note(by: str, groups: Sequence[Group]) -> str:
    rest = sum(group.n for group in groups if group.sign is OTHERS)
    if by == "rating":
        return " Colour: rating in points of the scale, dark is low." + (
            f" Grey: {rest:,} without a rating." if rest else ""
        )
    return f" Marked by {by.replace('eval_prompt', 'Eval-Prompt')}." + " Grey: the rest." * bool(rest)
