"""Marker shapes of groups as SVG, equal to those of printed charts; colours are variables of the stylesheet."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from markupsafe import Markup

from judge.questions.charts.shared import BLUE, GREEN, ORANGE, OTHERS, PURPLE, SKY, VERMILLION, Sign
from judge.show.pages.charts.svg import element

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
