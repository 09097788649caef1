"""SVG elements as markup in which all text is escaped, and estimated widths of text."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from markupsafe import Markup, escape

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
