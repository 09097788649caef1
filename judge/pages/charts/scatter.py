"""A map of points that can be coloured in several ways, by radio buttons and without a script. Never holds their texts.

Each point knows its place in a list; a page that has the texts shows them for that place.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from judge.pages.charts.colours import category
from judge.pages.charts.svg import chart, element, fitted, text_width

_WIDTH, _HEIGHT, _MARGIN = 760.0, 520.0, 16.0

_NEAR = 45.0
"""How far around a name dots are looked at for whether it is theirs."""

_NAME = 150.0
"""The widest that a name in the picture may become."""

MOST_NAMES = 30
"""With more categories than this none is named in the picture."""


@dataclass(frozen=True, slots=True)
class Colouring:
    """One way to colour: `name` on its button, the categories' names, and which of them each point has."""

    name: str
    categories: Sequence[str]
    of_point: Sequence[int]
    """Place in `categories` of each point; -1 = none, drawn grey."""


@dataclass(frozen=True, slots=True)
class Point:
    """Where a point lies; `index` is its number in the page's list of texts."""

    x: float
    y: float
    index: int


@dataclass(frozen=True, slots=True)
class ScatterMap:
    """All of one map. Equal scales on both axes: only nearness means something."""

    identity: str
    title: str
    description: str
    points: Sequence[Point]
    colourings: Sequence[Colouring]

    def markup(self) -> Markup:
        """Radio buttons, one legend a colouring, and the picture, in one `div`."""
        parts: list[Markup] = []
        for k, one in enumerate(self.colourings):
            identity = f"{self.identity}-by-{k}"
            parts.append(
                Markup('<input type="radio" name="{}" id="{}" class="by by-{}"{}>').format(
                    f"{self.identity}-by", identity, k, Markup(" checked") if k == 0 else ""
                )
            )
            parts.append(Markup('<label for="{}">{}</label>').format(identity, f"by {one.name}"))
        parts += [self._legend(k) for k in range(len(self.colourings))]
        parts.append(Markup('<div class="scroll map-picture">{}</div>').format(self.svg()))
        return Markup('<div class="map" id="{}-map">{}</div>').format(self.identity, Markup("").join(parts))

    def svg(self) -> Markup:
        """The picture alone. A point's classes are its colours: `a3` = third colour in the first colouring."""
        dots = Markup("").join(self._dots())
        labels = [self._labels(k) for k in range(len(self.colourings))]
        body = [element("g", dots, class_="points"), *labels]
        return chart(self.identity, (_WIDTH, _HEIGHT), self.title, self.description, body)

    def _places(self) -> list[tuple[float, float]]:
        xs, ys = [point.x for point in self.points], [point.y for point in self.points]
        if not xs:
            return []
        wide, tall = max(xs) - min(xs), max(ys) - min(ys)
        scale = min((_WIDTH - 2 * _MARGIN) / (wide or 1.0), (_HEIGHT - 2 * _MARGIN) / (tall or 1.0))
        left, top = (_WIDTH - scale * wide) / 2, (_HEIGHT - scale * tall) / 2
        return [
            (left + scale * (x - min(xs)), _HEIGHT - top - scale * (y - min(ys))) for x, y in zip(xs, ys, strict=True)
        ]

    def _dots(self) -> Iterator[Markup]:
        # Thousands of them: written out directly, all parts being numbers.
        names = "abcdefgh"
        for i, (point, (x, y)) in enumerate(zip(self.points, self._places(), strict=True)):
            classes = " ".join(f"{names[k]}{_colour(one.of_point[i])}" for k, one in enumerate(self.colourings))
            dot = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" class="{classes}" data-i="{int(point.index)}"/>'
            yield Markup(dot)  # noqa: S704

    def _labels(self, k: int) -> Markup:
        """Names of categories at the middle of their points, so that colours are not needed to tell them apart.

        A name stands only where two dots of three around are its own, and where it covers no other: the legend has all.
        """
        one, places = self.colourings[k], self._places()
        parts: list[Markup] = []
        taken: list[tuple[float, float, float]] = []
        counts = Counter(one.of_point)
        numbers = range(len(one.categories)) if len(one.categories) <= MOST_NAMES else ()
        for number in sorted(numbers, key=lambda number: -counts[number]):
            mine = [place for place, own in zip(places, one.of_point, strict=True) if own == number]
            if not mine:
                continue
            name = one.categories[number].partition(":")[0]
            half = min(text_width(name, 11), _NAME) / 2
            x, y = _median([p[0] for p in mine]), _median([p[1] for p in mine])
            near = [math.dist(place, (x, y)) < _NEAR for place in places]
            around = [own for own, close in zip(one.of_point, near, strict=True) if close]
            x = min(max(x, half + 2), _WIDTH - half - 2)
            covers = any(abs(x - other) < half + wide and abs(y - height) < 13 for other, height, wide in taken)
            if covers or 3 * around.count(number) <= 2 * len(around):
                continue
            taken.append((x, y, half))
            parts.append(fitted(x, y, name, _NAME, size=11, anchor="middle", class_="halo"))
        return element("g", *parts, class_=f"names names-{k}", aria_hidden="true")

    def _legend(self, k: int) -> Markup:
        one = self.colourings[k]
        counts = [0] * len(one.categories)
        for own in one.of_point:
            if own >= 0:
                counts[own] += 1
        items = [
            Markup('<li><span class="swatch k{}"></span>{} <span class="faint">{}</span></li>').format(
                category(number), name, counts[number]
            )
            for number, name in enumerate(one.categories)
        ]
        none = len(one.of_point) - sum(counts)
        if none:
            items.append(
                Markup('<li><span class="swatch k0"></span>none <span class="faint">{}</span></li>').format(none)
            )
        return Markup('<ul class="legend legend-{}">{}</ul>').format(k, Markup("").join(items))


def _colour(number: int) -> int:
    return 0 if number < 0 else category(number)


def _median(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]
