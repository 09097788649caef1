"""Small histograms of ratings in a page: one row for each rater, one column for each criterion. All bars share one
height scale.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from markupsafe import Markup

from judge.questions.charts.distributions import Distributions, Histogram, Kind
from judge.show.pages.charts.svg import BOLD, chart, element, fitted, hatching, mark, shortened, text, text_width

_WIDTH, _HEIGHT, _GAP = 104.0, 38.0, 12.0
_ROW = _HEIGHT + 8.0
_HEAD, _FOOT = 26.0, 40.0
_LABELS = 300.0
_COLOURS: Mapping[Kind, str] = {"people": "f8", "judge": "f6", "control": "f6"}


def distributions(picture: Distributions, identity: str) -> Markup:
    """SVG picture of rating distributions, one histogram for each rater and criterion. `identity` is the picture's id
    in the page.
    """
    left = min(max((text_width(row.words) for row in picture.rows), default=0.0), _LABELS) + 14.0
    parts: list[Markup] = [hatching(identity, "cut")] if any(row.kind == "control" for row in picture.rows) else []
    for j, name in enumerate(picture.criteria):
        x = left + j * (_WIDTH + _GAP)
        parts.append(fitted(x + _WIDTH / 2, 11, name, (_WIDTH + _GAP - 4) / BOLD, anchor="middle", font_weight=600))
        parts += _foot(picture, j, x, _HEAD + _ROW * len(picture.rows))
    for i, row in enumerate(picture.rows):
        y = _HEAD + i * _ROW
        parts.append(mark(row.words, text(left - 10, y + _HEIGHT / 2, shortened(row.words, left - 12), anchor="end")))
        for j in range(len(picture.criteria)):
            parts += _histogram(picture, i, j, (left + j * (_WIDTH + _GAP), y), identity)
    tallest = f"tallest bar: {100 * picture.top:.0f} % of a row's ratings"
    width = max(left + len(picture.criteria) * (_WIDTH + _GAP) + 4, left + text_width(tallest, 11) + 4, 300.0)
    size = (width, _HEAD + _ROW * len(picture.rows) + _FOOT)
    parts.append(text(left, size[1] - 8, tallest, size=11, class_="faint"))
    return chart(identity, size, picture.title, f"{picture.alt} {tallest}.", parts)


def _foot(picture: Distributions, column: int, x: float, y: float) -> Iterator[Markup]:
    histogram = next((row.cells[column] for row in picture.rows if row.cells[column].points), None)
    points = histogram.points if histogram is not None else ()
    wide = _WIDTH / max(1, len(points))
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
    yield element("line", x1=x, x2=x + _WIDTH, y1=y + _HEIGHT, y2=y + _HEIGHT, class_="axis")
    if not histogram.n:
        why = f"{row.words}, {picture.criteria[j]}: {histogram.reason or 'no rating'}"
        yield mark(why, text(x + _WIDTH / 2, y + _HEIGHT / 2, "none", size=10, anchor="middle", class_="faint"))
        return
    wide = _WIDTH / len(histogram.points)
    for k, share in enumerate(histogram.shares):
        tall = _HEIGHT * share / picture.top
        box = {"x": x + k * wide + 0.08 * wide, "y": y + _HEIGHT - tall, "width": 0.84 * wide, "height": tall}
        bars = [element("rect", **box, class_=_COLOURS[row.kind])]
        if row.kind == "control":
            bars.append(element("rect", **box, fill=f"url(#{identity}-hatch)"))
        target = element("rect", x=x + k * wide, y=y, width=wide, height=_HEIGHT, class_="target")
        yield mark(picture.tip(i, j, k), *bars, target)
    people = picture.people(j)
    if people and row.kind != "people":
        yield _line(people, x, y + _HEIGHT, picture.top)


def _line(people: Histogram, x: float, bottom: float, top: float) -> Markup:
    """Outline of the shares of human ratings, drawn as steps over the bars of a histogram. It has no tooltip; the bars
    have.
    """
    wide = _WIDTH / len(people.points)
    steps = " ".join(
        f"{'M' if k == 0 else 'L'}{x + k * wide:.2f} {bottom - _HEIGHT * share / top:.2f}h{wide:.2f}"
        for k, share in enumerate(people.shares)
    )
    return element("path", d=steps, class_="people", pointer_events="none")
