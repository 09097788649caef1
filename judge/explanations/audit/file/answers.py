"""Classes for annotators' answers, and checks of their values."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judge.base.errors import SpecError, unknown

# Names head columns of printed tables and are part of links.
_LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class Answer:
    """One annotator's answer on one category of an item: `value` is 1 if the error is present and 0 if not.

    `at` is the time of the answer in seconds since 1970. `done` is True if the annotator has answered all categories of
    the item.
    """

    annotator: str
    item: int
    category: str
    value: int
    at: float
    done: bool


@dataclass(frozen=True, slots=True)
class ItemState:
    """Current answers of an annotator on an item: category -> 0 or 1, a note, and seconds spent (None = not measured).

    `done` is True if all categories are answered. `revision` is the number of the annotator's changes to the item.
    """

    values: dict[str, int]
    note: str
    seconds: float | None
    done: bool
    revision: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of an annotator: numbers of the items that are finished (`done`) and begun, in the annotator's order,
    and the number of the next item that is not finished (None if all are). `total` counts all items.
    """

    total: int
    done: list[int]
    begun: list[int]
    next: int | None


@dataclass(frozen=True, slots=True)
class Undone:
    """The item on which an annotator's change was undone, and the annotator's answers on it after the undo."""

    item: int
    state: ItemState


def clean_name(annotator: str) -> str:
    """A normalised name: blanks are trimmed and merged, and Unicode is composed (NFC). Raises SpecError for an invalid
    name.
    """
    name = unicodedata.normalize("NFC", " ".join(str(annotator).split()))
    if not name:
        raise SpecError("an annotator needs a name")
    if len(name) > _LONGEST_NAME:
        raise SpecError(f"an annotator's name has at most {_LONGEST_NAME} characters, this one {len(name)}")
    if not name.isprintable():
        raise SpecError(f"annotator {name!r} has characters that cannot be printed")
    return name


def check_values(
    values: Mapping[str, int | None], categories: Sequence[str], seconds: float | None = None
) -> dict[str, int | None]:
    """The `values` of answers (category -> 1, 0 or None), unchanged. Raises SpecError for a category that is not in
    `categories`, a value other than 0, 1 and None, or a number of seconds that is invalid.
    """
    for key, value in values.items():
        if key not in categories:
            raise SpecError(unknown("category", str(key), categories))
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value not in (0, 1)):
            raise SpecError(f"category {key!r} was answered {value!r}; allowed: 1 (the error is there), 0, or nothing")
    if seconds is not None and not (math.isfinite(seconds) and seconds >= 0):
        raise SpecError(f"{seconds!r} is no number of seconds")
    return dict(values)
