"""The map of explanations in a page: a scatter plot with one point for each explanation. Radio buttons switch between
colourings without a script.

Each point carries the index of its explanation, so that a page that has the explanations' texts can show the right one.
All points are dots, because the buttons can change only colours. The names of groups are therefore also printed among
their points.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from markupsafe import Markup

from judge.questions.charts.colours import Scale
from judge.questions.charts.explanation_map import Colouring, ExplanationMap
from judge.questions.charts.signs import OTHERS
from judge.show.pages.charts.signs import colour
from judge.show.pages.charts.svg import chart, element, fitted, text_width

_WIDTH, _HEIGHT, _MARGIN = 760.0, 520.0, 16.0

_NEAR = 45.0
"""How far around a name dots are looked at for whether it is theirs."""

_NAME = 150.0
"""The widest that a name in the picture may become."""

MOST_NAMES = 30
"""With more groups than this none is named in the picture."""

_LETTERS = "abcdefgh"
"""What a point's classes begin with: `a3` = third colour in the first colouring."""

_BUTTONS: Mapping[str, str] = {"eval_prompt": "Eval-Prompt"}


def explanation_map(scatter: ExplanationMap, identity: str) -> Markup:
    """The map of explanations (a scatter plot) as a `div` with radio buttons, one legend for each colouring, and the
    picture. `identity` begins the ids of its elements.
    """
    parts: list[Markup] = []
    for k, colouring in enumerate(scatter.colourings):
        button, checked = f"{identity}-by-{k}", Markup(" checked") if k == 0 else ""
        parts.append(
            Markup('<input type="radio" name="{}" id="{}" class="by by-{}"{}>').format(
                f"{identity}-by", button, k, checked
            )
        )
        parts.append(Markup('<label for="{}">by {}</label>').format(button, _BUTTONS.get(colouring.by, colouring.by)))
    parts += [_legend(colouring, k) for k, colouring in enumerate(scatter.colourings)]
    parts.append(Markup('<div class="scroll map-picture">{}</div>').format(picture(scatter, identity)))
    return Markup('<div class="map" id="{}-map">{}{}</div>').format(
        identity, _style(scatter, identity), Markup("").join(parts)
    )


def picture(scatter: ExplanationMap, identity: str) -> Markup:
    """The SVG picture of the map of explanations, without buttons and legends. `identity` is the picture's id in the
    page.
    """
    dots = Markup("").join(_dots(scatter))
    places = _places(scatter)
    names = [_names(colouring, k, places) for k, colouring in enumerate(scatter.colourings)]
    body = [element("g", dots, class_="points"), *names]
    return chart(identity, (_WIDTH, _HEIGHT), scatter.title, f"{scatter.alt} Tables follow.", body)


def _places(scatter: ExplanationMap) -> list[tuple[float, float]]:
    xs, ys = [x for x, _ in scatter.places], [y for _, y in scatter.places]
    if not xs:
        return []
    wide, tall = max(xs) - min(xs), max(ys) - min(ys)
    scale = min((_WIDTH - 2 * _MARGIN) / (wide or 1.0), (_HEIGHT - 2 * _MARGIN) / (tall or 1.0))
    left, top = (_WIDTH - scale * wide) / 2, (_HEIGHT - scale * tall) / 2
    return [(left + scale * (x - min(xs)), _HEIGHT - top - scale * (y - min(ys))) for x, y in scatter.places]


def _colours(colouring: Colouring) -> list[int]:
    """Colour number of each group of points; 0 for the group of points that belong to no other group. Ratings are
    numbered in ascending order.
    """
    if colouring.ratings is None:
        return [colour(group.sign) for group in colouring.groups]
    return [0 if group.sign is OTHERS else i + 1 for i, group in enumerate(colouring.groups)]


def _ramp(colouring: Colouring) -> list[str]:
    """Colours of increasing lightness, one for each rating in ascending order; empty where the map's points are not
    coloured by rating.
    """
    if colouring.ratings is None:
        return []
    number = sum(group.sign is not OTHERS for group in colouring.groups)
    scale = Scale(0.0, max(1.0, number - 1.0), diverging=False)
    return [scale.colour(float(i)) for i in range(number)]


def _style(scatter: ExplanationMap, identity: str) -> Markup:
    """CSS rules for the colours of ratings in the map of explanations, which the page's stylesheet does not hold; empty
    where no colouring is by rating.
    """
    rules = [
        f"#{identity}-map .by-{k}:checked ~ .map-picture .{_LETTERS[k]}{i + 1} {{ fill: {fill}; "
        "stroke: var(--faint); stroke-width: .3; }"
        for k, colouring in enumerate(scatter.colourings)
        for i, fill in enumerate(_ramp(colouring))
    ]
    return Markup("<style>{}</style>").format(Markup("\n".join(rules))) if rules else Markup("")  # noqa: S704  our own


def _dots(scatter: ExplanationMap) -> Iterator[Markup]:
    # Thousands of them: written out directly, all parts being numbers.
    numbers = [_colours(colouring) for colouring in scatter.colourings]
    for i, (x, y) in enumerate(_places(scatter)):
        classes = " ".join(
            f"{_LETTERS[k]}{numbers[k][colouring.of_point[i]]}" for k, colouring in enumerate(scatter.colourings)
        )
        yield Markup(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" class="{classes}" data-i="{i}"/>')  # noqa: S704


def _names(colouring: Colouring, k: int, places: list[tuple[float, float]]) -> Markup:
    """Names of the map's groups of points as SVG, each at the median of its group's points, so that groups are
    recognisable without colours.

    A name is printed only if more than two thirds of the dots around it belong to its group and it covers no other
    name. The legend lists all groups.
    """
    parts: list[Markup] = []
    taken: list[tuple[float, float, float]] = []
    named = [i for i, group in enumerate(colouring.groups) if group.sign is not OTHERS]
    for number in sorted(named if len(named) <= MOST_NAMES else (), key=lambda i: -colouring.groups[i].n):
        mine = [point for point, own in zip(places, colouring.of_point, strict=True) if own == number]
        if not mine:
            continue
        name = colouring.groups[number].name
        half = min(text_width(name, 11), _NAME) / 2
        x, y = _median([p[0] for p in mine]), _median([p[1] for p in mine])
        around = [
            own for point, own in zip(places, colouring.of_point, strict=True) if math.dist(point, (x, y)) < _NEAR
        ]
        x = min(max(x, half + 2), _WIDTH - half - 2)
        covers = any(abs(x - other) < half + wide and abs(y - height) < 13 for other, height, wide in taken)
        if covers or 3 * around.count(number) <= 2 * len(around):
            continue
        taken.append((x, y, half))
        parts.append(fitted(x, y, name, _NAME, size=11, anchor="middle", class_="halo"))
    return element("g", *parts, class_=f"names names-{k}", aria_hidden="true")


def _legend(colouring: Colouring, k: int) -> Markup:
    ramp = _ramp(colouring)
    items = []
    for i, (group, number) in enumerate(zip(colouring.groups, _colours(colouring), strict=True)):
        own = Markup(' style="--c: {}; outline: 1px solid var(--line)"').format(ramp[i]) if i < len(ramp) else ""
        items.append(
            Markup('<li><span class="swatch k{}"{}></span>{} <span class="faint">{}</span></li>').format(
                min(number, 9), own, group.full_name, group.n
            )
        )
    items.append(Markup('<li class="faint">{}</li>').format(colouring.note.strip()))
    return Markup('<ul class="legend legend-{}">{}</ul>').format(k, Markup("").join(items))


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]
