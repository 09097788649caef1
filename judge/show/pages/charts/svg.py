"""SVG elements as markup in which all text is escaped, estimated widths of text, and marker shapes."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping

from markupsafe import Markup, escape

from judge.questions.charts.shared import BLUE, GREEN, ORANGE, OTHERS, PURPLE, SKY, VERMILLION, Sign

_NARROW, _WIDE, _WIDEST = frozenset("ijlt.,:;'|!()[]{} rf-"), frozenset("wODGQCNHU−×+→"), frozenset("mMW@%…")
# Widths in em as in DejaVu Sans, the widest of the usual system fonts: others leave a little room.
_CHARACTER = {"narrow": 0.39, "wide": 0.82, "widest": 0.99, "other": 0.63, "full": 1.05}

# How much wider bold letters are.
BOLD = 1.17

Attribute = str | float | int | None


def element(name: str, *children: str | Markup, **attributes: Attribute) -> Markup:
    """One SVG element, with plain text escaped. `class_` becomes `class`, underscores become dashes, and attributes
    that are None are left out."""
    attributes_text = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_value(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    inner = "".join(str(escape(child)) for child in children)
    # Everything in it is escaped above; names are our own.
    return Markup(f"<{name}{attributes_text}>{inner}</{name}>" if inner else f"<{name}{attributes_text}/>")  # noqa: S704


def chart(identity: str, size: tuple[float, float], title: str, description: str, parts: Iterable[Markup]) -> Markup:
    """The whole SVG, with title and description for screen readers; `size` is width and height."""
    width, height = size
    return element(
        "svg",
        element("title", title, id=f"{identity}-title"),
        element("desc", description, id=f"{identity}-desc"),
        *parts,
        class_="chart",
        id=identity,
        role="img",
        aria_labelledby=f"{identity}-title {identity}-desc",
        width=width,
        height=height,
        viewBox=f"0 0 {_value(width)} {_value(height)}",
        xmlns="http://www.w3.org/2000/svg",
    )


def hatching(identity: str, kind: str = "hatch") -> Markup:
    """The pattern `{identity}-hatch`, which marks undefined values and controls; `kind` is its lines' CSS class."""
    line = element("path", d="M0 6L6 0", class_=kind)
    pattern = element("pattern", line, id=f"{identity}-hatch", width=6, height=6, patternUnits="userSpaceOnUse")
    return element("defs", pattern)


def text(x: float, y: float, content: str, *, size: float = 12, anchor: str = "start", **more: Attribute) -> Markup:
    """One line of text. `y` is the vertical middle of its letters."""
    attributes = more | {"text_anchor": None if anchor == "start" else anchor, "dominant_baseline": "central"}
    return element("text", content, x=x, y=y, font_size=size, **attributes)


def mark(tip: str, *children: Markup, **attributes: Attribute) -> Markup:
    """SVG group of the shapes that draw one number, which the tooltip `tip` gives in words."""
    return element("g", element("title", tip), *children, **({"class_": "mark"} | attributes))


def fitted(x: float, y: float, content: str, room: float, *, size: float = 12, **more: Attribute) -> Markup:
    """One line of text, at most `room` wide; a shortened text has a tooltip with the whole."""
    short = shortened(content, room, size)
    drawn = text(x, y, short, size=size, **more)  # type: ignore[arg-type]  # anchor is a word
    return drawn if short == " ".join(content.split()) else mark(content, drawn)


def text_width(content: str, size: float = 12) -> float:
    """Estimated width of a text in SVG units. It is never much less than the true width."""
    return size * sum(_CHARACTER[_kind(character)] for character in content)


def shortened(content: str, room: float, size: float = 12) -> str:
    """The text on one line with single spaces, with an ellipsis where it is wider than `room`."""
    line = " ".join(content.split())
    if text_width(line, size) <= room:
        return line
    kept = ""
    for character in line:
        if text_width(kept + character + "…", size) > room:
            break
        kept += character
    return f"{kept.rstrip()}…"


def _kind(character: str) -> str:
    if character in _NARROW:
        return "narrow"
    if unicodedata.east_asian_width(character) in "FW":
        return "full"
    if character in _WIDEST:
        return "widest"
    return "wide" if character in _WIDE or character.isupper() else "other"


def _value(value: Attribute) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


# Marker shapes of groups as SVG, equal to those of printed charts; colours are variables of the stylesheet.

# Paper's colours as the stylesheet's, `--c1` to `--c8`.
_COLOURS = {BLUE: 1, VERMILLION: 2, GREEN: 3, PURPLE: 4, ORANGE: 5, SKY: 6, "#7F7F7F": 8}

# The colour of text, for signs that are black on paper.
INK = 9

_SIZE = 3.8


def colour(sign: Sign) -> int:
    """Number of a sign's colour in the stylesheet, 1 to 9; 0 for points outside all groups."""
    return 0 if sign is OTHERS else _COLOURS.get(sign.colour, INK)


def marker(sign: Sign, x: float, y: float) -> Markup:
    """SVG shape of a sign; hollow ones are filled with the background colour."""
    kind = f"f{colour(sign)}" if sign.filled else f"hollow s{colour(sign)}"
    if sign.marker == "o":
        return element("circle", cx=x, cy=y, r=_SIZE, class_=kind)
    draw = _SHAPES.get(sign.marker, _diamond)
    return element("path", d=draw(x, y, _SIZE), class_=kind)


def _square(x: float, y: float, r: float) -> str:
    return f"M{x - r:.2f} {y - r:.2f}h{2 * r:.2f}v{2 * r:.2f}h{-2 * r:.2f}z"


def _diamond(x: float, y: float, r: float) -> str:
    a = 1.2 * r
    return f"M{x:.2f} {y - a:.2f}l{a:.2f} {a:.2f}l{-a:.2f} {a:.2f}l{-a:.2f} {-a:.2f}z"


def _triangle(across: float, along: float) -> Callable[[float, float, float], str]:
    """SVG path of a triangle by (x, y, radius), pointing in the direction (across, along)."""

    def draw(x: float, y: float, r: float) -> str:
        corners = [(across, along), (-across + along, -along - across), (-across - along, -along + across)]
        return "M" + "L".join(f"{x + r * a:.2f} {y + r * b:.2f}" for a, b in corners) + "z"

    return draw


def _cross(x: float, y: float, r: float) -> str:
    t = 0.4 * r
    return (
        f"M{x - t:.2f} {y - r:.2f}h{2 * t:.2f}v{r - t:.2f}h{r - t:.2f}v{2 * t:.2f}h{t - r:.2f}v{r - t:.2f}h{-2 * t:.2f}"
        f"v{t - r:.2f}h{t - r:.2f}v{-2 * t:.2f}h{r - t:.2f}z"
    )


# Shapes by matplotlib's names, which the signs have; a star and others not here are diamonds.
_SHAPES: Mapping[str, Callable[[float, float, float], str]] = {
    "s": _square,
    "D": _diamond,
    "d": _diamond,
    "^": _triangle(0, -1),
    "v": _triangle(0, 1),
    "<": _triangle(-1, 0),
    ">": _triangle(1, 0),
    "P": _cross,
    "X": _cross,
}
