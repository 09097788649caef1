"""Ids of perturbed stories: `ORIGIN@PERTURBATION.STRENGTH`, and `ORIGIN@none` unchanged. They say how a story was
changed, so a journal needs no other record of it."""

from __future__ import annotations

import re
from typing import NamedTuple

UNTOUCHED = "none"
# The perturbation that leaves no text.
EMPTY = "empty"

_FORM = re.compile(r"(?P<origin>.+)@(?:none|(?P<name>[a-z][a-z0-9-]*)\.(?P<strength>[1-9][0-9]{0,2}))", re.DOTALL)


class PerturbedName(NamedTuple):
    """A parsed id: the original story's, its perturbation (None = unchanged) and strength (0 = unchanged)."""

    origin: str
    perturbation: str | None
    strength: int

    @property
    def done(self) -> str:
        """Name of the perturbation, or "untouched", as printed in a table's row."""
        return self.perturbation or "untouched"


def story_name(origin: str, perturbation: str | None = None, strength: int = 1) -> str:
    """Id of a story after a perturbation, or of the unchanged story (None)."""
    return f"{origin}@{UNTOUCHED}" if perturbation is None else f"{origin}@{perturbation}.{strength}"


def read_name(name: str) -> PerturbedName | None:
    """The parts of `ORIGIN@PERTURBATION.STRENGTH`; None for another form. The original's id may contain "@"."""
    match = _FORM.fullmatch(name)
    if match is None:
        return None
    perturbation = match["name"]
    return PerturbedName(match["origin"], perturbation, int(match["strength"]) if perturbation else 0)


def is_emptied(name: str) -> bool:
    """Whether the perturbation `empty` removed the story's text on purpose."""
    read = read_name(name) if f"@{EMPTY}." in name else None
    return read is not None and read.perturbation == EMPTY
