"""Reads labels of a scale (such as Yes and No) from answers given as JSON: which keys hold a label, and what a value
means.
"""

from __future__ import annotations

from typing import Any

from judge.answers.parsing.ours.json_answer import Entry, Reading
from judge.answers.parsing.ours.labelled.label_mentions import label_mentions
from judge.answers.parsing.ours.page import page
from judge.answers.parsing.words.criterion_names import names
from judge.answers.parsing.words.label_words import LABEL_NAMES
from judge.base.records import Judgment, Scale

_LONGEST = 200
"""Characters of a value that may be a label with a remark; a longer one is an explanation."""

_EDGE = " \t\n*_\"'`.!()[]"


def _judge(
    chosen: list[tuple[Entry, int]], flags: tuple[str, ...], scale: Scale, text: str, _objects: list[dict[str, Any]]
) -> Judgment:
    """Judgment from the chosen labels in an answer's JSON objects, each given as (entry with key and value, position of
    its object in the text): ambiguous if the labels differ.
    """
    read = [(code_in(entry.value, scale), entry, start) for entry, start in chosen]
    stated = [(code, entry, start) for code, entry, start in read if code is not None]
    if not stated:
        return Judgment("no_rating", flags=flags)
    if len({code for code, _, _ in stated}) > 1:
        return Judgment("ambiguous", flags=flags)
    code, entry, start = stated[0]
    return Judgment("ok", float(code), flags, entry.explanation, _span(text, entry, scale, code, start))


LABELS = Reading(LABEL_NAMES, _judge)
"""Keys of JSON that hold a label, and how their values are read."""


def code_in(value: Any, scale: Scale) -> int | None:
    """Code of the scale's label (such as Yes) if the value is this label, or a text that begins with it and a
    punctuation mark ("Yes, because ..."); None for every other value.
    """
    if not isinstance(value, str):
        return None
    code = scale.code_of(value.strip(_EDGE))
    if code is not None:
        return code
    sheet = page(value[:_LONGEST], names("", ()), scale)
    named = label_mentions(sheet)
    if not named or sheet.low[: named[0].start].strip(_EDGE) or len({m.value for m in named}) > 1:
        return None
    behind = sheet.low[named[0].stop :].lstrip(" *\"'")
    return int(named[0].value) if behind[:1] in ".,:;!(—–-\n" else None


def _span(text: str, entry: Entry, scale: Scale, code: int, start: int) -> tuple[int, int] | None:
    """(start, end) of a label of the scale (such as Yes) in the text; None where it cannot be located there."""
    position = text.find(f'"{entry.key}"', start)
    if position < 0:
        return None
    behind = position + len(entry.key) + 2
    label = scale.labels[code].lower()
    offset = text[behind : behind + _LONGEST].lower().find(label)
    return None if offset < 0 else (behind + offset, behind + offset + len(label))
