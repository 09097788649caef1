"""An edit of a text: a span and its replacement. All text outside the edits stays unchanged."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import NamedTuple


class Edit(NamedTuple):
    """The characters from `start` up to `end` of the original become `replacement`; equal ends insert."""

    start: int
    end: int
    replacement: str


def in_order(edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """Edits sorted by position; insertions at one position stay in the order given."""
    return tuple(sorted(edits, key=itemgetter(0, 1)))


def applied(text: str, edits: Sequence[Edit]) -> str:
    """The text with all edits made. Edits count positions in the original; insertions at one position keep their order.

    Raises ValueError where two edits overlap or one lies outside the text: that is a mistake of the perturbation.
    """
    parts: list[str] = []
    last = 0
    for edit in in_order(edits):
        if not last <= edit.start <= edit.end <= len(text):
            raise ValueError(f"edit {edit} overlaps another or lies outside a text of {len(text)} characters")
        parts += (text[last : edit.start], edit.replacement)
        last = edit.end
    return "".join([*parts, text[last:]])
