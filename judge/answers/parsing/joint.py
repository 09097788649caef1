"""Reads answers about several criteria: the parser of single ratings reads each criterion's part."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from judge.answers.parsing import Parser
from judge.answers.parsing.ours.from_story import without_objects
from judge.answers.parsing.ours.json_answer import objects_in
from judge.answers.parsing.ours.parser import clean
from judge.answers.parsing.vocabulary import names
from judge.base.late_pattern import late
from judge.base.records import Criterion, Judgment, Response

# Reads one judgment per criterion from an answer about several criteria. Each criterion gets its own rating and
# status.

# Divides an answer into the parts about each criterion: JSON, tags, table rows, or lines that begin with a name.

# Objects within objects that are followed: {"ratings": {"CRITERION": {"rating": 4}}} needs two, hostile texts nest
# more.
_DEEPEST = 4

# Lines that begin so end a criterion's part: their number is of the whole story.
_SUMMARY = r"overall|total|sum|average|mean|final|summary|conclusion"

_AFTER_NAME = late(r"\A[\]*_`\"']{0,3}[ \t]{0,3}[:：=–—|-]?[\]*_`\"']{0,3}[ \t]{0,3}")


def parts(text: str, criteria: Sequence[Criterion]) -> dict[str, list[str]]:
    """Criterion name -> parts of the answer about it, in order. Empty where the answer has none of the known forms."""
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
    # Values under the criterion's name, and objects that hold the name as a value; `names` holds (name, abbreviation).
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
    # The first text of several words whose key begins with the rating's key: for relevance, relevance_reason.
    longer = (item for other, item in value.items() if _folded(other).startswith(f"{_folded(key)} "))
    text = next((item for item in longer if isinstance(item, str) and len(item.split()) > 1), None)
    return {} if text is None else {"explanation": text}


def _tag_parts(text: str, names: tuple[tuple[str, str], ...]) -> dict[str, list[str]]:
    if "</" not in text:
        return {}
    parts_of: dict[str, list[str]] = {}
    for match in _tags(names).finditer(text):
        if _folded(match["open"]) == _folded(match["close"]):
            parts_of.setdefault(_whole(match["open"], names), []).append(match["part"])
    return parts_of


def _row_parts(text: str, names: tuple[tuple[str, str], ...]) -> dict[str, list[str]]:
    rows_by_criterion: dict[str, list[str]] = {}
    for line in text.splitlines() if "|" in text else ():
        cells = [cell.strip(" *_`") for cell in line.strip().strip("|").split("|")]
        name = _whole(cells[0], names) if line.lstrip().startswith("|") and len(cells) > 1 else ""
        if name:
            rows_by_criterion.setdefault(name, []).append(_under(name, "\n".join(cells[1:])))
    return rows_by_criterion


def _line_parts(text: str, names: tuple[tuple[str, str], ...]) -> dict[str, list[str]]:
    # From a line that begins with the name to the next line of this kind, or to a summary line.
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
    plain = _AFTER_NAME.sub("", rest, count=1)
    return plain.strip() if plain[:1] == "\n" else f"{name}: {plain.strip()}"


@lru_cache(maxsize=1024)
def _whole(label: str, names: tuple[tuple[str, str], ...]) -> str:
    for name, short in names:
        if _folded(label) == _folded(name) or (short and label.strip() == short):
            return name
    return ""


@lru_cache(maxsize=1024)
def _folded(name: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", name.casefold()))


@lru_cache(maxsize=64)
def _heads(names: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    # Lines that begin with a criterion's name, or with a summary word that ends a part.
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
    # Names in any letter case, longest first, and abbreviations in capitals.
    whole = sorted((name for name, _ in names), key=len, reverse=True)
    written = [r"[ _\-]".join(map(re.escape, re.split(r"[\s_\-]+", name))) for name in whole]
    short = [re.escape(abbreviation) for _, abbreviation in names if abbreviation]
    return "|".join([f"(?i:{name})" for name in written] + short)


_SENTENCE = late(r"[.!?;]\s|\n")
_WORD = late(r"[^\W\d_]+")


def joint_judgments(
    parser: Parser, response: Response, criteria: Sequence[Criterion], *, story: str = ""
) -> tuple[Judgment, ...]:
    """One judgment per criterion, in order. Its part is read like an answer about it alone; several parts with ratings
    must agree, or it is `ambiguous`. In an answer without parts, a rating counts only for a criterion that its sentence
    names, so that a rating of the whole story counts for none."""
    cleaned = clean(response.text)
    run_on = ("run_on",) if cleaned.run_on else ()
    without_story = without_objects(story, cleaned.text)
    if without_story != cleaned.text and not without_story.strip(" \n`json"):
        return tuple(Judgment("ambiguous", flags=(*run_on, "quoted")) for _ in criteria)
    cleaned = replace(cleaned, text=without_story)
    answer_parts = parts(cleaned.text, criteria)
    last = max((cleaned.text.rfind(own_parts[-1]) for own_parts in answer_parts.values()), default=-1)
    judged = []
    for criterion in criteria:
        others = [other.name for other in criteria if other is not criterion]
        if not answer_parts:
            judgment = _in_prose(parser, response, cleaned.text, criterion, others, story)
        else:
            own = answer_parts.get(criterion.name, [])
            # A cut falls into the last part alone, and loses what would have come behind it.
            cut = not own or cleaned.text.rfind(own[-1]) == last
            reason = response.finish_reason if cut else None
            judgment = _of_parts(parser, response, reason, own, criterion, others, story)
        flags = (*run_on, *(flag for flag in judgment.flags if flag not in _ASKED))
        # No `replace` here or below: it takes longer than a short answer is read.
        judged.append(Judgment(judgment.status, judgment.rating, flags, judgment.explanation))
    return tuple(judged)


# Flags that say nothing where other criteria were asked for too, or that are the whole answer's.
_ASKED = frozenset({"others_rated", "run_on"})


def _of_parts(
    parser: Parser,
    response: Response,
    finish_reason: str | None,
    own: Sequence[str],
    criterion: Criterion,
    others: Sequence[str],
    story: str,
) -> Judgment:
    if not own:
        return Judgment("truncated" if finish_reason == "length" else "no_rating")
    answers = [Response(part, finish_reason, response.reasoning, model=response.model) for part in own]
    # An object is made of one that does not stand in the story; made smaller it may look like one that does.
    stories = ["" if part.startswith("{") else story for part in own]
    pairs = zip(answers, stories, strict=True)
    read = [parser.parse(part, criterion, other_criteria=others, story=text) for part, text in pairs]
    rated = [judgment for judgment in read if judgment.rating is not None]
    if not rated:
        return read[-1]
    if len({judgment.rating for judgment in rated}) > 1:
        return Judgment("ambiguous")
    return next((judgment for judgment in rated if judgment.explanation), rated[0])


def _in_prose(
    parser: Parser, response: Response, text: str, criterion: Criterion, others: Sequence[str], story: str
) -> Judgment:
    judgment = parser.parse(response, criterion, other_criteria=others, story=story)
    if judgment.rating is None:
        return judgment
    if judgment.span is None or not _is_named(text, judgment.span, criterion, others):
        return Judgment("no_rating")
    # What else stands in such a sentence is about the other criteria too.
    return replace(judgment, explanation=None)


def _is_named(text: str, span: tuple[int, int], criterion: Criterion, others: Sequence[str]) -> bool:
    begin = max((match.end() for match in _SENTENCE.finditer(text, 0, span[0])), default=0)
    end = _SENTENCE.search(text, span[1])
    words = [word.lower() for word in _WORD.findall(text[begin : end.start() if end else len(text)])]
    shared = {word for other in others for word in _WORD.findall(other.lower())}
    criterion_names = names(criterion.name, tuple(others))
    return any(criterion_names.is_asked(word) and word not in shared for word in words)
