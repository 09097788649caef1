"""An edit of a text: a span and its replacement. All text outside of edits stays unchanged."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import NamedTuple


class Edit(NamedTuple):
    """One change of a text: the characters from `start` up to `end` of the original become `replacement`. If `start`
    equals `end`, the replacement is inserted.
    """

    start: int
    end: int
    replacement: str


def in_order(edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """Edits sorted by position; insertions at one position stay in the order given."""
    return tuple(sorted(edits, key=itemgetter(0, 1)))


def applied(text: str, edits: Sequence[Edit]) -> str:
    """The text with all edits applied. Positions of edits refer to the original text; insertions at one position keep
    their order.

    Raises ValueError where two edits overlap or one is outside the text, which is an error in the perturbation.
    """
    parts: list[str] = []
    last = 0
    for edit in in_order(edits):
        if not last <= edit.start <= edit.end <= len(text):
            raise ValueError(f"edit {edit} overlaps another or lies outside a text of {len(text)} characters")
        parts += (text[last : edit.start], edit.replacement)
        last = edit.end
    return "".join([*parts, text[last:]])
