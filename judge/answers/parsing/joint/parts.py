"""Divides an answer into the parts about each criterion: JSON, tags, table rows, or lines that begin with a name.

A criterion is recognised by its whole name, without regard to letter case and underscores, or by its abbreviation in
capitals. Text under no criterion's name is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from judge.answers.parsing.ours.json_answer import objects_in
from judge.base.records import Criterion

_DEEPEST = 4
"""Objects within objects that are followed: {"ratings": {"CRITERION": {"rating": 4}}} needs two, hostile texts nest
more."""

_SUMMARY = r"overall|total|sum|average|mean|final|summary|conclusion"
"""Lines that begin so end a criterion's part: their number is of the whole story."""

_AFTER_NAME = re.compile(r"\A[\]*_`\"']{0,3}[ \t]{0,3}[:：=–—|-]?[\]*_`\"']{0,3}[ \t]{0,3}")


def parts(text: str, criteria: Sequence[Criterion]) -> dict[str, list[str]]:
    """Criterion name -> parts of the answer about it, in the order of the answer. Empty where the answer has none of
    the known forms.
    """
    names = tuple((criterion.name, criterion.abbreviation) for criterion in criteria)
    for parts_found in (
        _json_parts(text, names),
        _tag_parts(text, names),
        _row_parts(text, names),
        _line_parts(text, names),
    ):
        if parts_found:
            return parts_found
    return {}


def _json_parts(text: str, names: tuple[tuple[str, str], ...]) -> dict[str, list[str]]:
    """Criterion name -> JSON texts about it: values under the criterion's name, and objects that hold the name as a
    value. `names` holds (name, abbreviation) of each criterion.
    """
    if "{" not in text:
        return {}
    full_names = {_folded(name): whole for whole, short in names for name in (whole, short) if name}
    parts_of: dict[str, list[str]] = {}
    for value in objects_in(text):
        for name, part in _named(value, full_names):
            parts_of.setdefault(name, []).append(json.dumps(part, ensure_ascii=False))
    return parts_of


def _named(value: Any, full_names: Mapping[str, str], depth: int = 0) -> Iterator[tuple[str, Any]]:
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for item in value:
            yield from _named(item, full_names, depth + 1)
    elif isinstance(value, dict):
        own = [
            full_names[_folded(item)]
            for item in value.values()
            if isinstance(item, str) and _folded(item) in full_names
        ]
        if len(own) == 1:
            rest = {
                key: item for key, item in value.items() if not isinstance(item, str) or _folded(item) not in full_names
            }
            yield own[0], rest
            return
        for key, item in value.items():
            name = full_names.get(_folded(key))
            if name is not None:
                yield name, item if isinstance(item, dict) else {"rating": item, **_beside(value, key)}
            elif isinstance(item, dict | list):
                yield from _named(item, full_names, depth + 1)


def _beside(value: Mapping[str, Any], key: str) -> dict[str, str]:
    """{"explanation": text}, or empty where there is none. The text is the first value of more than one word whose key
    begins with the rating's key `key` (for relevance, for example, relevance_reason).
    """
    longer = (item for other, item in value.items() if _folded(other).startswith(f"{_folded(key)} "))
    text = next((item for item in longer if isinstance(item, str) and len(item.split()) > 1), None)
    return {} if text is None else {"explanation": text}


def _tag_parts(text: str, names: tuple[tuple[str, str], ...]) -> dict[str, list[str]]:
    """Criterion name -> texts between <name> and </name>."""
    if "</" not in text:
        return {}
    parts_of: dict[str, list[str]] = {}
    for match in _tags(names).finditer(text):
        if _folded(match["open"]) == _folded(match["close"]):
            parts_of.setdefault(_whole(match["open"], names), []).append(match["part"])
    return parts_of


def _row_parts(text: str, names: tuple[tuple[str, str], ...]) -> dict[str, list[str]]:
    """Criterion name -> rows of Markdown tables in whose first cell the criterion is named."""
    rows_by_criterion: dict[str, list[str]] = {}
    for line in text.splitlines() if "|" in text else ():
        cells = [cell.strip(" *_`") for cell in line.strip().strip("|").split("|")]
        name = _whole(cells[0], names) if line.lstrip().startswith("|") and len(cells) > 1 else ""
        if name:
            rows_by_criterion.setdefault(name, []).append(_under(name, "\n".join(cells[1:])))
    return rows_by_criterion


def _line_parts(text: str, names: tuple[tuple[str, str], ...]) -> dict[str, list[str]]:
    """Criterion name -> texts from a line that begins with the name to the next line of this kind, or to a summary
    line. Empty for fewer than two criteria.
    """
    places = [(match.start(), match.end(), match["name"]) for match in _heads(names).finditer(text)]
    lines_by_criterion: dict[str, list[str]] = {}
    for number, (_, begin, label) in enumerate(places):
        name = _whole(label, names)
        if name:
            end = places[number + 1][0] if number + 1 < len(places) else len(text)
            lines_by_criterion.setdefault(name, []).append(_under(name, text[begin:end]))
    # One such line may rate them all: "Relevance 4, coherence 3".
    return lines_by_criterion if len(lines_by_criterion) > 1 else {}


def _under(name: str, rest: str) -> str:
    """The text after a criterion's name, written as "name: text". Where the text begins on a new line, the name is left
    out.
    """
    plain = _AFTER_NAME.sub("", rest, count=1)
    return plain.strip() if plain[:1] == "\n" else f"{name}: {plain.strip()}"


@lru_cache(maxsize=1024)
def _whole(label: str, names: tuple[tuple[str, str], ...]) -> str:
    """The full name of the criterion that `label` names or abbreviates; "" where it names none."""
    for name, short in names:
        if _folded(label) == _folded(name) or (short and label.strip() == short):
            return name
    return ""


@lru_cache(maxsize=1024)
def _folded(name: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", name.casefold()))


@lru_cache(maxsize=64)
def _heads(names: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    """Pattern of a line that begins with a criterion's name, or with a summary word that ends a part."""
    mark = r"[*_`\"'\[]{0,3}"
    begin = (
        rf"^[ \t>]{{0,8}}(?:#{{1,6}}[ \t]{{0,3}})?(?:[-*•+][ \t]{{1,3}})?{mark}(?:\(?\d{{1,2}}[.):][ \t]{{0,3}})?{mark}"
    )
    short = r"(?:[ \t]{1,2}\([A-Z]{1,4}\))?"
    follows = r"(?=[\]*_`\"']{0,3}[ \t]{0,3}(?:[:：=–—\-(/|,]|\d|(?i:rating|score)\b|[*_`\"']{1,3}|\Z|\n))"
    summary = rf"(?i:{_SUMMARY})\b"
    return re.compile(rf"{begin}(?P<name>(?:{_any_of(names)}){short}{follows}|{summary})", re.MULTILINE)


@lru_cache(maxsize=64)
def _tags(names: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    word = _any_of(names)
    return re.compile(
        rf"<(?P<open>{word})(?:[ \t][^<>]{{0,80}})?>(?P<part>[^<]*(?:<(?!/(?:{word})>)[^<]*)*)</(?P<close>{word})>"
    )


def _any_of(names: tuple[tuple[str, str], ...]) -> str:
    """Regular expression for the criteria's names in any letter case, longest first, and their abbreviations in
    capitals.
    """
    whole = sorted((name for name, _ in names), key=len, reverse=True)
    written = [r"[ _\-]".join(map(re.escape, re.split(r"[\s_\-]+", name))) for name in whole]
    short = [re.escape(abbreviation) for _, abbreviation in names if abbreviation]
    return "|".join([f"(?i:{name})" for name in written] + short)
