"""Colour scales of charts: cividis if all values are at least 0, red to blue if some are negative. Both are
distinguishable for colour-blind readers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# Cividis (Nunez, Anderton and Renslow 2018) and ColorBrewer's RdBu, at equal steps.
_CIVIDIS = ["00224e", "123570", "3b496c", "575d6d", "707173", "8a8678", "a59c74", "c3b369", "e1cc55", "fee838"]
_RED_BLUE = [
    "67001f",
    "b1182b",
    "d6604d",
    "f3a481",
    "fddbc7",
    "f6f7f7",
    "d1e5f0",
    "90c4dd",
    "4393c3",
    "2065ab",
    "053061",
]

_INK = 0.179
"""Luminance at which black and white text have the same contrast (WCAG 2.1)."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Colour scale for the values of a chart: sequential from `low` to `high`, or diverging around 0 if some values are
    negative.
    """

    low: float
    high: float
    diverging: bool

    @classmethod
    def of(cls, values: Sequence[float], *, digits: int = 2) -> Scale:
        """A colour scale that contains all values: from 0 to the largest value or, if some values are negative, from -x
        to x with x the largest absolute value. Values that round to 0 at `digits` decimals do not count as negative.
        """
        top = max((abs(value) for value in values), default=0.1) or 0.1
        if any(round(value, digits) < 0 for value in values):
            return cls(-top, top, diverging=True)
        return cls(0.0, top, diverging=False)

    @property
    def steps(self) -> list[str]:
        """Colours at equal steps from `low` to `high`, as `#rrggbb`. Colours between two steps are interpolated."""
        return [f"#{step}" for step in (_RED_BLUE if self.diverging else _CIVIDIS)]

    def colour(self, value: float) -> str:
        """Colour of a value, as `#rrggbb`."""
        steps = self.steps
        share = min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))
        position = share * (len(steps) - 1)
        at = min(int(position), len(steps) - 2)
        first, second = _parts(steps[at][1:]), _parts(steps[at + 1][1:])
        mixed = (round(a + (b - a) * (position - at)) for a, b in zip(first, second, strict=True))
        return "#" + "".join(f"{part:02x}" for part in mixed)

    def ink(self, value: float) -> str:
        """Black or white, whichever is easier to read on the colour of `value`."""
        return "#000000" if luminance(self.colour(value)) > _INK else "#ffffff"


def _parts(colour: str) -> tuple[int, int, int]:
    return int(colour[:2], 16), int(colour[2:4], 16), int(colour[4:], 16)


def luminance(colour: str) -> float:
    """Relative luminance of `#rrggbb` (WCAG 2.1)."""
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (p / 255 for p in _parts(colour[1:]))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
