"""Reads answers given as JSON, in a code block or inside prose. Broken JSON is read as running text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf
from typing import Any

from judge.answers.parsing import vocabulary as words
from judge.answers.parsing.ours.clauses import is_template
from judge.answers.parsing.ours.explanation import tidy
from judge.answers.parsing.ours.mentions import mentions
from judge.answers.parsing.vocabulary import Names
from judge.base.foreign import whole_escapes
from judge.base.late_pattern import late
from judge.base.records import Judgment, Scale


class _Several(tuple[Any, ...]):
    __slots__ = ()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        for key in members:
            values = [value for name, value in pairs if name == key]
            if any(value != values[0] for value in values):
                members[key] = _Several(values)
    return members


_DECODER = json.JSONDecoder(parse_constant=lambda _name: None, object_pairs_hook=_object)
_KEY_WORD = late(r"[^\W\d_]+")
_CAMEL = late(r"(?<=[a-z])(?=[A-Z])")
_LITERAL = late(r"-?\d+(?:\.\d+)?")
_EXPLAINS = words.word_set(
    "explanation explain reason reasons reasoning rationale justification comment comments feedback why analysis "
    "thought thoughts begründung explication explicación spiegazione 理由 解释"
)
_HOLDERS = words.word_set(
    "ratings scores rating score evaluation evaluations result results response output answer answers"
)
_HIGHEST = ({"max"}, {"maximum"}, {"out", "of"}, {"max", "score"}, {"max", "rating"}, {"scale", "max"})
_SCALES = ({"scale"}, {"rating", "scale"}, {"score", "scale"}, {"scale", "range"}, {"scale", "used"})
_ENDS = late(
    r"(?:\d\s{0,2}(?:-|–|—|to|\.\.)\s{0,2}|\bout of\s|/\s?|\A\s?)(\d{1,3})(?:[ -]point.{0,10})?\s?(?:\Z|[)\];,.(])"
)
_BOUNDS = words.word_set("max maximum min minimum scale out id index version")
# Keys of ratings that somebody else gave, and of numbers that are no rating of the story.
_FOREIGN = words.word_set(
    "confidence certainty human humans people reader readers user users crowd expert experts annotator "
    "annotators average "
    "avg mean median previous prior initial reference gold expected example count num number weight std deviation "
    "probability rank length difficulty readability"
)
_TOTALS, _SEVERAL = frozenset({"n", "nr", "total"}), frozenset({"ratings", "scores", "reviews", "raters"})
# A bound on the search: each brace of broken JSON costs a pass over the rest of the answer.
_MOST_OBJECTS = 20
# Of deeper objects some Pythons parse thousands of levels, and no code that walks through them could.
_DEEPEST = 100
# Stands for the denominator of "3-4", which names no single rating.
_RANGE = -1.0


@dataclass(frozen=True, slots=True)
class Entry:
    """One rating in a JSON object. `rank`, by its key: 0 = another criterion, 1 = a rating, 2 = a final one, 3 = the
    requested."""

    key: str
    value: Any
    rank: int
    explanation: str | None


@dataclass(frozen=True, slots=True)
class Reading:
    """Rules for ratings in JSON: further key words for a rating, and the function that judges the ratings found."""

    keys: frozenset[str]
    judge: Callable[[list[tuple[Entry, int]], tuple[str, ...], Scale, str, list[dict[str, Any]]], Judgment]


@dataclass(frozen=True, slots=True)
class JsonAnswer:
    """Judgment from an answer's JSON objects. `outside` is the text with these replaced by spaces."""

    judgment: Judgment
    outside: str


def json_judgment(text: str, names: Names, scale: Scale, reading: Reading) -> JsonAnswer | None:
    """Judgment from an answer's JSON objects; None where none holds a rating of the requested criterion. With only
    other ratings and no text around, its status is `no_rating`."""
    if "{" not in text or '"' not in text:
        return None
    objects = [placed for placed in placed_objects(text) if not is_template(text, placed[1])]
    if not objects:
        return None
    entries = [(entry, start) for value, start, _ in objects for entry in _entries(value, names, reading.keys)]
    ours = [(entry, start) for entry, start in entries if entry.rank]
    flags = ("others_rated",) if len(ours) < len(entries) else ()
    outside = without_placed(text, objects)
    if not ours:
        # A rating of something else ("confidence_score") does not keep the text around it from being read.
        return JsonAnswer(Judgment("no_rating", flags=flags), outside) if entries and not outside.strip() else None
    best = max(entry.rank for entry, _ in ours)
    chosen = [(entry, start) for entry, start in ours if entry.rank == best]
    judgment = reading.judge(chosen, flags, scale, text, [value for value, _, _ in objects])
    if judgment.status == "ok" and judgment.explanation is None:
        before = tidy(text[: objects[0][1]].replace("```json", "").replace("```", ""), "")
        if before is not None and len(before.split()) > 6:
            judgment = Judgment("ok", judgment.rating, flags, before, judgment.span)
    return JsonAnswer(judgment, outside)


def without_placed(text: str, objects: list[tuple[dict[str, Any], int, int]]) -> str:
    """The text with `placed_objects` of it replaced by spaces; positions stay."""
    for _, start, end in objects:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def strict_json_judgment(text: str, names: Names, scale: Scale, reading: Reading) -> Judgment:
    """Judgment of an answer that must be exactly one JSON object."""
    try:
        value = json.loads(whole_escapes(text), parse_constant=lambda _name: None, object_pairs_hook=_object)
    except (ValueError, RecursionError):
        return Judgment("no_rating")
    if not isinstance(value, dict) or _too_deep(value):
        return Judgment("no_rating")
    ours = [entry for entry in _entries(value, names, reading.keys) if entry.rank]
    if not ours:
        return Judgment("no_rating")
    best = max(entry.rank for entry in ours)
    return reading.judge([(e, text.find("{")) for e in ours if e.rank == best], (), scale, text, [value])


def objects_in(text: str) -> Iterator[dict[str, Any]]:
    return (value for value, _, _ in placed_objects(text))


def placed_objects(text: str) -> Iterator[tuple[dict[str, Any], int, int]]:
    """(object, start, end) for each complete JSON object that is nested no deeper than 100 levels."""
    text = whole_escapes(text)
    position = text.find("{")
    for _ in range(_MOST_OBJECTS):
        if position < 0:
            return
        try:
            value, end = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            position = text.find("{", position + 1)
            continue
        if isinstance(value, dict) and not _too_deep(value):
            yield value, position, end
        position = text.find("{", end)


def _too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            inner
            for item in level
            for inner in (item.values() if isinstance(item, dict) else item)
            if isinstance(inner, dict | list | _Several)
        ]
        if not level:
            return False
    return True


def _entries(
    value: dict[str, Any], names: Names, keys: frozenset[str], named: bool = False, depth: int = 0
) -> Iterator[Entry]:
    why = explanation_in(value, _EXPLAINS)
    for key, item in _pairs(value):
        parts = [w.lower() for w in _KEY_WORD.findall(_CAMEL.sub(" ", key))]
        asked = any(names.is_asked(w) for w in parts)
        other = any(w in _FOREIGN for w in parts) or (not asked and any(names.is_other(w) for w in parts))
        if isinstance(item, list) and len(item) == 1:
            item = item[0]  # noqa: PLW2901
        if isinstance(item, dict):
            if depth < 4 and (asked or other or any(w in _HOLDERS for w in parts)):
                inner = _entries(item, names, keys, named or asked, depth + 1)
                yield from (Entry(e.key, e.value, 0, e.explanation) for e in inner) if other else inner
            continue
        if item is not None and not isinstance(item, str | int | float):
            continue
        if not _BOUNDS.isdisjoint(parts) or (not _TOTALS.isdisjoint(parts) and not _SEVERAL.isdisjoint(parts)):
            continue
        rating = any(w in words.RATING or w in keys for w in parts) and not any(w in _EXPLAINS for w in parts)
        if other and (rating or not isinstance(item, str) or item.strip()[:1].isdigit()):
            yield Entry(key, item, 0, why)
        elif not other and (asked or rating) and not any(w in _EXPLAINS for w in parts):
            final = "final" in parts or "overall" in parts
            yield Entry(key, item, 3 if asked or named else 2 if final else 1, why)


def _pairs(value: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, item in value.items():
        if isinstance(item, _Several):
            yield from ((key, element) for element in item)
        else:
            yield key, item


def explanation_in(value: dict[str, Any], names: frozenset[str]) -> str | None:
    """The first text under a key with one of these words; None without, and where it is empty."""
    for key, item in value.items():
        if isinstance(item, str) and any(w.lower() in names for w in _KEY_WORD.findall(_CAMEL.sub(" ", key))):
            return item.strip() or None
    return None


def _judge(
    chosen: list[tuple[Entry, int]], flags: tuple[str, ...], scale: Scale, text: str, objects: list[dict[str, Any]]
) -> Judgment:
    read = [(_value(entry.value), entry, start) for entry, start in chosen]
    stated = [(value, entry, start) for value, entry, start in read if value is not None]
    if not stated:
        return Judgment("no_rating", flags=flags)
    if len({value for value, _, _ in stated}) > 1:
        return Judgment("ambiguous", flags=flags)
    (value, out_of), entry, start = stated[0]
    if out_of == _RANGE:
        return Judgment("ambiguous", flags=flags)
    highest = out_of if out_of is not None else _highest(objects)
    if value not in scale or (highest is not None and highest != scale.max):
        return Judgment("out_of_scale", flags=flags)
    return Judgment("ok", value, flags, entry.explanation, _span(text, entry.key, value, start))


# Numbers under the words of ratings.
NUMBERS = Reading(frozenset(), _judge)


def _value(item: Any) -> tuple[float, float | None] | None:
    # (number, denominator or None), for 3, "3" or "3/5"; a range has the denominator -1.
    if item is None or isinstance(item, bool):
        return None
    if isinstance(item, int | float):
        return stated_number(item), None
    low = item.lower().strip()
    numbers = mentions(low[:200])
    if not numbers or low[: numbers[0].start].strip(" *'\"("):
        return None
    mention = numbers[0]
    if low[mention.stop : mention.stop + 2].strip(" *'\")")[:1].isalnum():
        return None
    if mention.high is not None:
        return mention.value, _RANGE
    return mention.value, 100.0 if mention.percent else mention.out_of


def _highest(objects: list[dict[str, Any]]) -> float | None:
    # Such as ``"max": 10``, ``"scale": "1-10"``
    for value in objects:
        for key, item in _pairs(value):
            parts = {w.lower() for w in _KEY_WORD.findall(_CAMEL.sub(" ", key))}
            if parts in _HIGHEST and isinstance(item, int | float) and not isinstance(item, bool):
                return stated_number(item)
            if parts in _SCALES and isinstance(item, str | int | float) and not isinstance(item, bool):
                if not isinstance(item, str):
                    return stated_number(item)
                if (named := _ENDS.search(item)) is not None:
                    return float(named.group(1))
            inner = [entry for entry in (item if isinstance(item, list) else [item]) if isinstance(entry, dict)]
            inside = _highest(inner)
            if inside is not None:
                return inside
    return None


def stated_number(value: float) -> float:
    """A JSON number as a float: infinity where a float cannot hold its digits, so that it is on no scale."""
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def _span(text: str, key: str, value: float, start: int) -> tuple[int, int] | None:
    position = text.find(f'"{key}"', start)
    while position >= 0:
        literal = _LITERAL.search(text, position + len(key) + 2)
        if literal is not None and float(literal.group()) == value:
            return literal.span()
        position = text.find(f'"{key}"', position + 1)
    return None
