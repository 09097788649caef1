"""Signs of groups in a figure: each has its own colour, marker and dash, so that colour is not needed to recognise it.

Colours: Okabe & Ito, Color Universal Design (2008), distinguishable with the common colour vision deficiencies.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sign:
    """Colour, marker and dash of one group; markers are `filled` with the colour, or with white."""

    colour: str
    marker: str
    filled: bool = True
    dash: str | tuple[int, tuple[float, ...]] = "solid"

    @property
    def face(self) -> str:
        """Colour inside the marker."""
        return self.colour if self.filled else "white"


PEOPLE = Sign("#000000", "D")
CONTROL = Sign("#444444", "s", filled=False)
JUDGE = Sign("#0072B2", "o")

BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, VERMILLION, PURPLE = (
    "#000000",
    "#E69F00",
    "#56B4E9",
    "#009E73",
    "#F0E442",
    "#0072B2",
    "#D55E00",
    "#CC79A7",
)

# Groups beyond these are refused: nobody tells more apart.
SIGNS = (
    Sign(BLUE, "o"),
    Sign(VERMILLION, "s", filled=False),
    Sign(GREEN, "^"),
    Sign(PURPLE, "v", filled=False),
    Sign(ORANGE, "P"),
    Sign(SKY, "X"),
    Sign(BLACK, "d", filled=False),
    Sign("#7F7F7F", "*"),
    Sign(BLUE, "<", filled=False),
    Sign(VERMILLION, ">"),
)

# Points of no group, and of groups beyond those that have signs.
OTHERS = Sign("#b8b8b8", ".")
