"""Charts of dots in a page: forest plots, and the map of explanations."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from markupsafe import Markup

from judge.base.estimate import Estimate
from judge.questions.charts.explanation_map import Colouring, ExplanationMap
from judge.questions.charts.forest import Band, Forest
from judge.questions.charts.heatmap import Scale
from judge.questions.charts.shared import OTHERS, Sign
from judge.show.pages.charts.svg import (
    BOLD,
    chart,
    colour,
    element,
    fitted,
    hatching,
    mark,
    marker,
    shortened,
    text,
    text_width,
)

# The map of explanations in a page: a scatter plot with one point for each explanation. Radio buttons switch between
# colourings without a script.

_WIDTH, _HEIGHT, _MARGIN = 760.0, 520.0, 16.0

# How far around a name dots are looked at for whether it is theirs.
_NEAR = 45.0

# The widest that a name in the picture may become.
_NAME = 150.0

# With more groups than this none is named in the picture.
MOST_NAMES = 30

# What a point's classes begin with: `a3` = third colour in the first colouring.
_LETTERS = "abcdefgh"

_BUTTONS: Mapping[str, str] = {"eval_prompt": "Eval-Prompt"}


def explanation_map(scatter: ExplanationMap, identity: str) -> Markup:
    """The map of explanations as a `div` with radio buttons, one legend for each colouring, and the picture. `identity`
    begins the ids of its elements."""
    parts: list[Markup] = []
    for k, colouring in enumerate(scatter.colourings):
        button, checked = f"{identity}-by-{k}", Markup(" checked") if k == 0 else ""
        parts.append(
            Markup('<input type="radio" name="{}" id="{}" class="by by-{}"{}>').format(
                f"{identity}-by", button, k, checked
            )
        )
        parts.append(Markup('<label for="{}">by {}</label>').format(button, _BUTTONS.get(colouring.by, colouring.by)))
    parts += [_explanation_map_legend(colouring, k) for k, colouring in enumerate(scatter.colourings)]
    parts.append(Markup('<div class="scroll map-picture">{}</div>').format(picture(scatter, identity)))
    return Markup('<div class="map" id="{}-map">{}{}</div>').format(
        identity, _style(scatter, identity), Markup("").join(parts)
    )


def picture(scatter: ExplanationMap, identity: str) -> Markup:
    """SVG of the map of explanations, with the id `identity`, without buttons and legends."""
    dots = Markup("").join(_dots(scatter))
    places = _explanation_map_places(scatter)
    names = [_names(colouring, k, places) for k, colouring in enumerate(scatter.colourings)]
    body = [element("g", dots, class_="points"), *names]
    return chart(identity, (_WIDTH, _HEIGHT), scatter.title, f"{scatter.alt} Tables follow.", body)


def _explanation_map_places(scatter: ExplanationMap) -> list[tuple[float, float]]:
    xs, ys = [x for x, _ in scatter.places], [y for _, y in scatter.places]
    if not xs:
        return []
    wide, tall = max(xs) - min(xs), max(ys) - min(ys)
    scale = min((_WIDTH - 2 * _MARGIN) / (wide or 1.0), (_HEIGHT - 2 * _MARGIN) / (tall or 1.0))
    left, top = (_WIDTH - scale * wide) / 2, (_HEIGHT - scale * tall) / 2
    return [(left + scale * (x - min(xs)), _HEIGHT - top - scale * (y - min(ys))) for x, y in scatter.places]


def _colours(colouring: Colouring) -> list[int]:
    if colouring.ratings is None:
        return [colour(group.sign) for group in colouring.groups]
    # 0 is for points of no other group; ratings are in ascending order.
    return [0 if group.sign is OTHERS else i + 1 for i, group in enumerate(colouring.groups)]


def _ramp(colouring: Colouring) -> list[str]:
    """Colours of increasing lightness, one for each rating; empty where points are not coloured by rating."""
    if colouring.ratings is None:
        return []
    number = sum(group.sign is not OTHERS for group in colouring.groups)
    scale = Scale(0.0, max(1.0, number - 1.0), diverging=False)
    return [scale.colour(float(i)) for i in range(number)]


def _style(scatter: ExplanationMap, identity: str) -> Markup:
    """CSS rules for the colours of ratings, which the page's stylesheet does not hold."""
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
    for i, (x, y) in enumerate(_explanation_map_places(scatter)):
        classes = " ".join(
            f"{_LETTERS[k]}{numbers[k][colouring.of_point[i]]}" for k, colouring in enumerate(scatter.colourings)
        )
        yield Markup(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" class="{classes}" data-i="{i}"/>')  # noqa: S704


def _names(colouring: Colouring, k: int, places: list[tuple[float, float]]) -> Markup:
    # A name is printed at the median of its group's points only if more than two thirds of the dots around it belong to
    # the group and it covers no other name. The legend lists all.
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


def _explanation_map_legend(colouring: Colouring, k: int) -> Markup:
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


# Width of a panel unless a page says another, and the space after it.
_PANEL, _GAP = 132.0, 20.0
# The widest that a picture becomes unless one panel needs more.
_SCREEN = 1150.0
# Height of a row; the space before another group's, in rows.
_ROW, _GROUP = 19.0, 0.35
_HEAD, _FOOT = 30.0, 44.0
_LABELS = 300.0


def forest(figure: Forest, identity: str, *, width: float = _PANEL) -> Markup:
    """SVG of a forest plot; panels that do not fit side by side are spread evenly over several lines. `width` is that
    of one panel."""
    left = min(max((text_width(line.name) for line in figure.lines), default=0.0), _LABELS) + 14.0
    across = _across(len(figure.panels), left, width)
    places = _places(figure)
    inner = (places[-1] + _row(figure)) if places else 0.0
    tall = _HEAD + inner + _FOOT
    parts: list[Markup] = [hatching(identity)] if any(band.hatched for band in figure.bands) else []
    for k in range(len(figure.panels)):
        line, column = divmod(k, across)
        if not column:
            parts += _labels(figure, left, line * tall, places)
        parts += _panel(figure, k, identity, (left + column * (width + _GAP), line * tall), (width, inner), places)
    bottom = (math.ceil(len(figure.panels) / across) or 1) * tall
    keys = _keys(figure)
    parts += _legend(keys, left, bottom + 6)
    columns = min(len(figure.panels), across) or 1
    whole = max(left + columns * (width + _GAP) + 4.0, left + _legend_width(keys) + 4.0, 320.0)
    size = (whole, bottom + (18 if keys else 0))
    return chart(identity, size, figure.title, f"{figure.alt} A table follows.", parts)


def _across(panels: int, left: float, width: float) -> int:
    """As many as fit on a screen, and about the same number in every line."""
    most = max(1, math.floor((_SCREEN - left) / (width + _GAP)))
    return math.ceil(panels / math.ceil(panels / most)) if panels else 1


def _row(figure: Forest) -> float:
    return max(_ROW, 11.0 * len(figure.series) + 4.0)


def _places(figure: Forest) -> list[float]:
    return [_row(figure) * position for position in figure.places(_GROUP)]


def ticks(low: float, high: float, width: float) -> list[float]:
    """Round numbers for an axis of this width; at least two."""
    step = _step((high - low) / (width / 42))
    values = _multiples(step, low, high)
    return values if len(values) > 1 else _multiples(_step(step / 2.6), low, high)


def _labels(figure: Forest, left: float, top: float, places: Sequence[float]) -> Iterator[Markup]:
    for line, offset in zip(figure.lines, places, strict=True):
        y = top + _HEAD + offset + _row(figure) / 2
        yield mark(line.name, text(left - 10, y, shortened(line.name, left - 12), anchor="end"))


def _panel(
    figure: Forest,
    number: int,
    identity: str,
    corner: tuple[float, float],
    size: tuple[float, float],
    places: Sequence[float],
) -> Iterator[Markup]:
    (x, top), (width, tall) = corner, size
    low, high = figure.limits

    def at(value: float) -> float:
        return x + width * (figure.factor * value - low) / (high - low)

    yield fitted(x + width / 2, top + 12, figure.panels[number], width / BOLD, anchor="middle", font_weight=600)
    for band in figure.bands:
        yield from _band(figure, band, number, identity, at, (top + _HEAD, tall))
    yield from _axis(figure, number, corner, size)
    row = _row(figure)
    for line, offset in zip(figure.lines, places, strict=True):
        for k, estimate in enumerate(line.cells[number]):
            if estimate is None:
                continue
            y = top + _HEAD + offset + row * (k + 1) / (len(line.cells[number]) + 1)
            shown = _interval(estimate, at, y, line.sign or figure.series[k][1], x + width / 2)
            # A wider target than the dot, for pointing at.
            reach = row / len(line.cells[number])
            target = element("rect", x=x, y=y - reach / 2, width=width, height=reach, class_="target")
            yield mark(figure.tip(line, number, k), *shown, target)


def _axis(figure: Forest, number: int, corner: tuple[float, float], size: tuple[float, float]) -> Iterator[Markup]:
    (x, top), (width, tall) = corner, size
    low, high = figure.limits
    marked = ticks(low, high, width)
    digits = tick_digits(marked)
    for tick in marked:
        here = x + width * (tick - low) / (high - low)
        ends = {"x1": here, "x2": here, "y1": top + _HEAD, "y2": top + _HEAD + tall}
        yield element("line", **ends, class_="zero" if abs(tick) < 1e-9 * (high - low) else "axis")
        label = f"{tick:.{digits}f}".replace("-", "−")
        yield text(here, top + _HEAD + tall + 12, label, size=11, anchor="middle", class_="faint")
    middle, y, room = x + width / 2, top + _HEAD + tall + 27, width + _GAP - 4
    yield fitted(middle, y, figure.axes[number], room, size=11, anchor="middle", class_="faint")


def _band(
    figure: Forest, band: Band, number: int, identity: str, at: Callable[[float], float], span: tuple[float, float]
) -> Iterator[Markup]:
    estimate, (top, tall) = band.estimates[number], span
    if estimate.value is None:
        return
    parts = []
    if estimate.low is not None and estimate.high is not None:
        box = {"x": at(estimate.low), "y": top, "width": at(estimate.high) - at(estimate.low), "height": tall}
        parts.append(element("rect", **box, **_filled(band, identity)))
    ends = {"x1": at(estimate.value), "x2": at(estimate.value), "y1": top - 4, "y2": top + tall}
    parts.append(element("line", **ends, class_="reference dashed" if band.hatched else "reference"))
    yield mark(figure.band_tip(band, number), *parts)


def _filled(band: Band, identity: str) -> dict[str, str]:
    return {"fill": f"url(#{identity}-hatch)"} if band.hatched else {"class_": "band"}


def _interval(estimate: Estimate, at: Callable[[float], float], y: float, sign: Sign, middle: float) -> list[Markup]:
    if estimate.value is None:
        return [text(middle, y, "undefined", size=10, anchor="middle", class_="faint")]
    parts = []
    if estimate.low is not None and estimate.high is not None:
        parts.append(
            element("line", x1=at(estimate.low), x2=at(estimate.high), y1=y, y2=y, class_=f"whisker s{colour(sign)}")
        )
    return [*parts, marker(sign, at(estimate.value), y)]


def _keys(figure: Forest) -> list[tuple[str, Sign | Band]]:
    """(Name, sign or band) of each legend entry: bands with a defined value, and the series if several."""
    series: list[tuple[str, Sign | Band]] = [*figure.series] if len(figure.series) > 1 else []
    return [*series, *((band.name, band) for band in figure.bands if band.defined)]


def _legend_width(keys: Sequence[tuple[str, Sign | Band]]) -> float:
    return sum(28 + text_width(name, 11) for name, _ in keys) + 24 * max(0, len(keys) - 1)


def _legend(keys: Sequence[tuple[str, Sign | Band]], x: float, y: float) -> Iterator[Markup]:
    for name, sign in keys:
        if isinstance(sign, Band):
            style = "reference dashed" if sign.hatched else "reference"
            yield element("line", x1=x, x2=x + 22, y1=y, y2=y, class_=style)
        else:
            yield marker(sign, x + 11, y)
        yield text(x + 28, y, name, size=11, class_="faint")
        x += 28 + text_width(name, 11) + 24


def _multiples(step: float, low: float, high: float) -> list[float]:
    return [i * step for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def tick_digits(ticks: Sequence[float]) -> int:
    """Smallest number of decimals that prints every tick exactly. A rounded label would mark a wrong position."""
    step = min((b - a for a, b in itertools.pairwise(ticks)), default=max(map(abs, ticks), default=0.0)) or 1.0
    return next((n for n in range(16) if all(abs(round(tick, n) - tick) < 1e-6 * step for tick in ticks)), 16)


def _step(rough: float) -> float:
    """The smallest 1, 2, 2.5 or 5 times a power of ten that is not below `rough`."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if factor * power >= rough - 1e-12)
