"""Reads verdicts from answers given as JSON: which keys hold a verdict, and what a value means."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from judge.answers.parsing.ours.assertion import is_template
from judge.answers.parsing.ours.json_answer import placed_objects
from judge.answers.parsing.verdict.sides import FIRST, SECOND, TIE, Sides, ordinal
from judge.answers.parsing.words.vocabulary import word_set

_WORDS = re.compile(r"[^\W\d_]+|\d+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_VERDICT = word_set(
    "winner preference preferred better best choice verdict answer decision judgment judgement selected "
    "selection pick vote"
    " result stronger winning chosen label prediction output overall final favorite favourite prefer "
    "conclusion superior choose"
    " response antwort gewinner respuesta ganador réponse risposta"
)
_BESIDE = word_set(
    "story stories option text the is of which my id name letter to a one your narrative value candidate s"
)
_EXPLAINS = word_set(
    "explanation explain reason reasons reasoning rationale justification comment comments feedback why "
    "analysis thought thoughts"
)
_HOLDERS = word_set(
    "result evaluation verdict output response answer comparison judgment judgement final overall assessment decision"
)
_FINAL = word_set("overall final")
_RANKING = word_set("ranking rank order ranked rankings")
_HEAD = re.compile(r"((?:\w{2,12}\s)?\w{1,12})\s?(?::|\s[-–—])\s")
_EDGE = " \t\n*_\"'`.!()[]"
_DEEPEST = 3
"""Objects within objects that are followed: {"result": {"verdict": ...}} is usual, deeper ones are hostile or broken.
"""

_NO_ONE = word_set("tie draw tied neither equal both_equal none_better same even no_preference")


@dataclass(frozen=True, slots=True)
class JsonVerdict:
    """Verdict in an answer's JSON objects. `sides`: the symbols of what the most specific keys state (first story,
    second story or tie); empty without a verdict, several where the keys contradict each other. `outside`: the text
    without the objects. `span`: position of the value in the text; None where it cannot be located.
    """

    sides: frozenset[str]
    explanation: str | None
    outside: str
    span: tuple[int, int] | None


def json_verdict(
    text: str, sides: Sides, prose: Callable[[str], str | None], *, strict: bool = False
) -> JsonVerdict | None:
    """Verdict of the JSON objects in an answer; its `sides` are empty where no object holds a verdict. `prose` reads
    the preferred story (or a tie) from a value that is a sentence. The result is None for an answer without an object
    and, with `strict`, for every answer that is not exactly one object.
    """
    if "{" not in text or '"' not in text:
        return None
    objects = [placed for placed in placed_objects(text) if not is_template(text, placed[1])]
    if not objects or (
        strict and (len(objects) != 1 or text[: objects[0][1]].strip() or text[objects[0][2] :].strip())
    ):
        return None
    entries = [(*entry, start) for value, start, _ in objects for entry in _entries(value)]
    outside = text
    for _, start, end in objects:
        outside = outside[:start] + " " * (end - start) + outside[end:]
    read = [
        (rank, side, key, item, start)
        for rank, key, item, start in entries
        if (side := value_side(item, key, sides, prose)) is not None
    ]
    best = max((rank for rank, *_ in entries), default=0)
    read = [candidate for candidate in read if candidate[0] == best]
    why = next((explanation for value, _, _ in objects if (explanation := _explanation(value)) is not None), None)
    span = _span(text, read[0]) if read else None
    return JsonVerdict(frozenset(candidate[1] for candidate in read), why, outside, span)


def _entries(value: dict[str, Any], depth: int = 0) -> Iterator[tuple[int, str, Any]]:
    """(rank, key, value) of those entries of a JSON object that may hold the overall verdict. Rank 1: a verdict. Rank
    2: a final verdict.
    """
    for key, item in value.items():
        parts = [word.lower() for word in _WORDS.findall(_CAMEL.sub(" ", key))]
        if isinstance(item, dict):
            if depth < _DEEPEST and parts and (_HOLDERS | _BESIDE).issuperset(parts):
                yield from _entries(item, depth + 1)
            continue
        if parts and not _RANKING.isdisjoint(parts) and (_RANKING | _BESIDE | _FINAL).issuperset(parts):
            if isinstance(item, list) and len(item) == 2 and all(isinstance(text, str) for text in item):
                yield 1, key, item[0]
            continue
        if isinstance(item, list) and len(item) == 1:
            item = item[0]  # noqa: PLW2901
        if isinstance(item, bool) or not isinstance(item, str | int) or _VERDICT.isdisjoint(parts):
            if isinstance(item, bool) and item and parts in (["tie"], ["draw"], ["is", "tie"]):
                yield 1, key, "tie"
            continue
        if (_VERDICT | _BESIDE).issuperset(parts):
            yield (1 if _FINAL.isdisjoint(parts) else 2), key, item


def value_side(item: Any, key: str, sides: Sides, prose: Callable[[str], str | None]) -> str | None:
    """Symbol of what a JSON value states: first story, second story or tie; None where it states none of these."""
    text = str(item).strip(_EDGE)
    side = sides.side_of(" ".join(text.split()))
    if side is not None:
        return side
    named = _HEAD.match(text)
    if named is not None and prose(named.group(1)) in (FIRST, SECOND):
        return prose(named.group(1))
    if "_".join(text.lower().replace("-", " ").split()) in _NO_ONE:
        return TIE
    counted = not isinstance(item, int) or not {"story", "stories", "option"}.isdisjoint(
        key.lower().replace("_", " ").split()
    )
    if (
        sides.positions
        and counted
        and text.lower() in ("first", "second", "1", "2")
        and (isinstance(item, int) or not text.isdigit() or "story" in key.lower())
    ):
        return ordinal(text)
    if isinstance(item, int) or not text:
        return None
    symbol = prose(text)
    return symbol if symbol in (FIRST, SECOND, TIE) else None


def _explanation(value: dict[str, Any]) -> str | None:
    for key, item in value.items():
        words = [word.lower() for word in _WORDS.findall(_CAMEL.sub(" ", key))]
        if isinstance(item, str) and not _EXPLAINS.isdisjoint(words):
            return item.strip() or None
    return None


def _span(text: str, entry: tuple[int, str, str, Any, int]) -> tuple[int, int] | None:
    """(start, end) in the text of a JSON value that holds a verdict; None where it cannot be located there."""
    _, _, key, item, start = entry
    position = text.find(f'"{key}"', start)
    if position < 0:
        return None
    value = str(item)
    start_of_value = text.find(value, position + len(key) + 2)
    return None if start_of_value < 0 else (start_of_value, start_of_value + len(value))
