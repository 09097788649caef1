"""Charts of cells in a page: heat maps, and small histograms of ratings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup

from judge.questions.charts.distributions import Distributions, Histogram, Kind
from judge.questions.charts.heatmap import HeatCell, HeatMap, Scale
from judge.show.pages.charts.svg import BOLD, chart, element, fitted, hatching, mark, shortened, text, text_width

# Small histograms of ratings in a page: one row for each rater, one column for each criterion. All bars share one
# height scale.

_DISTRIBUTIONS_WIDTH, _DISTRIBUTIONS_HEIGHT, _DISTRIBUTIONS_GAP = 104.0, 38.0, 12.0
_ROW = _DISTRIBUTIONS_HEIGHT + 8.0
_HEAD, _FOOT = 26.0, 40.0
_DISTRIBUTIONS_LABELS = 300.0
_COLOURS: Mapping[Kind, str] = {"people": "f8", "judge": "f6", "control": "f6"}


def distributions(picture: Distributions, identity: str) -> Markup:
    """SVG of rating distributions, one histogram for each rater and criterion."""
    left = min(max((text_width(row.words) for row in picture.rows), default=0.0), _DISTRIBUTIONS_LABELS) + 14.0
    parts: list[Markup] = [hatching(identity, "cut")] if any(row.kind == "control" for row in picture.rows) else []
    for j, name in enumerate(picture.criteria):
        x = left + j * (_DISTRIBUTIONS_WIDTH + _DISTRIBUTIONS_GAP)
        parts.append(
            fitted(
                x + _DISTRIBUTIONS_WIDTH / 2,
                11,
                name,
                (_DISTRIBUTIONS_WIDTH + _DISTRIBUTIONS_GAP - 4) / BOLD,
                anchor="middle",
                font_weight=600,
            )
        )
        parts += _foot(picture, j, x, _HEAD + _ROW * len(picture.rows))
    for i, row in enumerate(picture.rows):
        y = _HEAD + i * _ROW
        parts.append(
            mark(
                row.words, text(left - 10, y + _DISTRIBUTIONS_HEIGHT / 2, shortened(row.words, left - 12), anchor="end")
            )
        )
        for j in range(len(picture.criteria)):
            parts += _histogram(picture, i, j, (left + j * (_DISTRIBUTIONS_WIDTH + _DISTRIBUTIONS_GAP), y), identity)
    tallest = f"tallest bar: {100 * picture.top:.0f} % of a row's ratings"
    width = max(
        left + len(picture.criteria) * (_DISTRIBUTIONS_WIDTH + _DISTRIBUTIONS_GAP) + 4,
        left + text_width(tallest, 11) + 4,
        300.0,
    )
    size = (width, _HEAD + _ROW * len(picture.rows) + _FOOT)
    parts.append(text(left, size[1] - 8, tallest, size=11, class_="faint"))
    return chart(identity, size, picture.title, f"{picture.alt} {tallest}.", parts)


def _foot(picture: Distributions, column: int, x: float, y: float) -> Iterator[Markup]:
    histogram = next((row.cells[column] for row in picture.rows if row.cells[column].points), None)
    points = histogram.points if histogram is not None else ()
    wide = _DISTRIBUTIONS_WIDTH / max(1, len(points))
    # Words where all have room.
    fits = histogram is not None and all(text_width(name, 11) <= wide - 2 for name in histogram.names)
    names = histogram.names if histogram is not None and fits else [f"{point:g}" for point in points]
    # A long scale has its ends alone.
    shown = range(len(points)) if len(points) <= 7 else (0, len(points) - 1)
    for k in shown:
        yield text(x + (k + 0.5) * wide, y + 4, names[k], size=11, anchor="middle", class_="faint")


def _histogram(picture: Distributions, i: int, j: int, corner: tuple[float, float], identity: str) -> Iterator[Markup]:
    row, (x, y) = picture.rows[i], corner
    histogram = row.cells[j]
    yield element(
        "line",
        x1=x,
        x2=x + _DISTRIBUTIONS_WIDTH,
        y1=y + _DISTRIBUTIONS_HEIGHT,
        y2=y + _DISTRIBUTIONS_HEIGHT,
        class_="axis",
    )
    if not histogram.n:
        why = f"{row.words}, {picture.criteria[j]}: {histogram.reason or 'no rating'}"
        yield mark(
            why,
            text(
                x + _DISTRIBUTIONS_WIDTH / 2,
                y + _DISTRIBUTIONS_HEIGHT / 2,
                "none",
                size=10,
                anchor="middle",
                class_="faint",
            ),
        )
        return
    wide = _DISTRIBUTIONS_WIDTH / len(histogram.points)
    for k, share in enumerate(histogram.shares):
        tall = _DISTRIBUTIONS_HEIGHT * share / picture.top
        box = {
            "x": x + k * wide + 0.08 * wide,
            "y": y + _DISTRIBUTIONS_HEIGHT - tall,
            "width": 0.84 * wide,
            "height": tall,
        }
        bars = [element("rect", **box, class_=_COLOURS[row.kind])]
        if row.kind == "control":
            bars.append(element("rect", **box, fill=f"url(#{identity}-hatch)"))
        target = element("rect", x=x + k * wide, y=y, width=wide, height=_DISTRIBUTIONS_HEIGHT, class_="target")
        yield mark(picture.tip(i, j, k), *bars, target)
    people = picture.people(j)
    if people and row.kind != "people":
        yield _line(people, x, y + _DISTRIBUTIONS_HEIGHT, picture.top)


def _line(people: Histogram, x: float, bottom: float, top: float) -> Markup:
    wide = _DISTRIBUTIONS_WIDTH / len(people.points)
    # The outline has no tooltip; the bars have.
    steps = " ".join(
        f"{'M' if k == 0 else 'L'}{x + k * wide:.2f} {bottom - _DISTRIBUTIONS_HEIGHT * share / top:.2f}h{wide:.2f}"
        for k, share in enumerate(people.shares)
    )
    return element("path", d=steps, class_="people", pointer_events="none")


_WIDTH, _HEIGHT = 46.0, 24.0
_GAP = 9.0
# The widest that labels may become.
_LABELS = 330.0
# Colours of the key, and how wide each is.
_STEPS, _STEP = 24, 6.0
_INKS = {"#000000": "on-light", "#ffffff": "on-dark"}


def heat_map(figure: HeatMap, identity: str) -> Markup:
    """SVG picture of a heat map. `identity` is the picture's id in the page."""
    near = max((text_width(row.label) for row in figure.rows), default=0.0)
    near = min(near, _LABELS / 2) + (10.0 if near else 0.0)
    judges = max((text_width(row.name) for row in figure.rows if not row.is_bar), default=0.0) * BOLD
    # A row that judges are compared with has no Eval-Prompt: its name takes the room of both.
    bars = max((text_width(row.name) for row in figure.rows if row.is_bar), default=0.0) + 2.0 - near
    far = min(max(judges, bars, 0.0), _LABELS - near)
    left = near + far + 14.0
    places = [_HEIGHT * offset for offset in figure.places(_GAP / _HEIGHT)]
    bottom = _HEAD + (places[-1] + _HEIGHT if places else 0.0)
    width = max(left + _x(figure, len(figure.columns)) + 4.0, left + _key_width(figure.unit) + 4.0, 300.0)
    parts = [hatching(identity), *_heads(figure, left), *_labels(figure, left, near, far, places)]
    for row, offset in zip(figure.rows, places, strict=True):
        for i, cell in enumerate(row.cells):
            parts.append(_cell(left + _x(figure, i), _HEAD + offset, cell, figure.scale, identity))
    parts += _key(left, bottom + 12.0, figure.scale, figure.unit)
    return chart(identity, (width, bottom + _FOOT), figure.title, f"{figure.alt} A table follows.", parts)


def _x(figure: HeatMap, column: int) -> float:
    gap = _GAP if figure.apart and column >= len(figure.columns) - figure.apart else 0.0
    return column * _WIDTH + gap


def _heads(figure: HeatMap, left: float) -> Iterator[Markup]:
    for i, name in enumerate(figure.columns):
        middle = left + _x(figure, i) + _WIDTH / 2
        yield fitted(middle, _HEAD - 12, name, (_WIDTH - 2) / BOLD, anchor="middle", font_weight=600)


def _labels(figure: HeatMap, left: float, near: float, far: float, places: Sequence[float]) -> Iterator[Markup]:
    for i, (row, offset) in enumerate(zip(figure.rows, places, strict=True)):
        y = _HEAD + offset + _HEIGHT / 2
        if row.is_bar:
            yield mark(row.name, text(left - 6, y, shortened(row.name, far + near), anchor="end", font_style="italic"))
            continue
        if row.label:
            yield fitted(left - 6, y, row.label, near, anchor="end")
        if figure.begins(i):
            x, room = (left - 6 - near, far) if row.label else (left - 6, far + near)
            yield mark(row.name, text(x, y, shortened(row.name, room / BOLD), anchor="end", font_weight=600))


def _cell(x: float, y: float, cell: HeatCell, scale: Scale, identity: str) -> Markup:
    box = {"x": x, "y": y, "width": _WIDTH - 1, "height": _HEIGHT - 1}
    if cell.value is None:
        return mark(cell.tip, element("rect", **box, fill=f"url(#{identity}-hatch)", class_="undefined"))
    colour, ink = scale.colour(cell.value), scale.ink(cell.value)
    number = text(x + _WIDTH / 2 - 0.5, y + _HEIGHT / 2 - 0.5, cell.shown, anchor="middle", class_=_INKS[ink])
    return mark(cell.tip, element("rect", **box, fill=colour), number)


def _key_width(unit: str) -> float:
    return _STEPS * _STEP + 10 + text_width(unit, 11)


def _key(x: float, y: float, scale: Scale, unit: str) -> Iterator[Markup]:
    for i in range(_STEPS):
        value = scale.low + (scale.high - scale.low) * (i + 0.5) / _STEPS
        yield element("rect", x=x + i * _STEP, y=y, width=_STEP + 0.3, height=9, fill=scale.colour(value))
    end = x + _STEPS * _STEP
    yield text(x, y + 18, f"{scale.low:.0f}".replace("-", "−"), size=11, class_="faint")
    yield text(end, y + 18, f"{scale.high:.0f}", size=11, anchor="end", class_="faint")
    yield text(end + 10, y + 5, unit, size=11, class_="faint")
