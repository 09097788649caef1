"""Reads an answer that compares stories, as JSON or running text, and notes the characters that state the verdict."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from judge.answers.parsing.ours.explanation import tidy
from judge.answers.parsing.ours.from_story import stands_in
from judge.answers.parsing.verdict.context import TAKES_BACK, THINKS_ANEW
from judge.answers.parsing.verdict.deciding import Decision, decide
from judge.answers.parsing.verdict.foreign import foreign_statements
from judge.answers.parsing.verdict.forms import form_statements
from judge.answers.parsing.verdict.json_verdicts import json_verdict
from judge.answers.parsing.verdict.sheet import Sheet, sheet
from judge.answers.parsing.verdict.sides import Sides
from judge.answers.parsing.verdict.statements import Statement, sentence_statements


@dataclass(frozen=True, slots=True)
class Reading:
    """Verdict (which story is preferred) that was read from one text.

    `side` is the symbol of the first story, the second story or a tie (see `sides`); None without a verdict. `direct`
    says that the label at `span` is itself the answer. `words` are the words that state the verdict.
    """

    status: Literal["ok", "no_preference", "ambiguous"]
    side: str | None = None
    revised: bool = False
    explanation: str | None = None
    span: tuple[int, int] | None = None
    direct: bool = False
    words: str = ""


_REASON = re.compile(r",?\s(?:because|since|due\sto|thanks\sto|as\s(?:it|its|the|①|②))(?!\w)")
"""Behind a verdict that was cut in its sentence: nothing of the verdict itself is missing."""

_NOTHING = Reading("no_preference")


# Equal answers are common: a bare "A", a judge at temperature 0. They are read once.
@lru_cache(maxsize=4096)
def read(text: str, sides: Sides, criterion_words: frozenset[str], *, cut: bool) -> Reading:
    """The verdict read from a cleaned answer in free form: from its JSON objects and its running text, which must
    agree.
    """
    as_json = json_verdict(text, sides, lambda value: _prose(value, sides, criterion_words, cut=False).side)
    if as_json is None:
        return _prose(text, sides, criterion_words, cut=cut)
    outside = _prose(as_json.outside, sides, criterion_words, cut=cut)
    if not as_json.sides:
        return outside
    if len(as_json.sides) > 1 or outside.status == "ambiguous":
        return Reading("ambiguous")
    side = next(iter(as_json.sides))
    if outside.side is not None and outside.side != side:
        # Which of the two is the judge's own cannot be told: a story can hold a JSON object too.
        return Reading("ambiguous")
    why = as_json.explanation
    if why is None:
        before = tidy(as_json.outside.replace("```json", "").replace("```", ""), "")
        why = before if before is not None and len(before.split()) > 6 else None
    return Reading("ok", side, explanation=why, span=as_json.span, direct=True)


def read_json(text: str, sides: Sides) -> Reading:
    """The verdict read from an answer that must be one JSON object."""
    verdict = json_verdict(text, sides, lambda value: _prose(value, sides, frozenset(), cut=False).side, strict=True)
    if verdict is None or not verdict.sides:
        return _NOTHING
    if len(verdict.sides) > 1:
        return Reading("ambiguous")
    return Reading("ok", next(iter(verdict.sides)), explanation=verdict.explanation, span=verdict.span, direct=True)


def read_choice(text: str, choices: tuple[str, ...], symbols: tuple[str, ...]) -> Reading:
    """The verdict read from an answer that must be one of the labels."""
    literal = " ".join(text.split()).lower()
    start = len(text) - len(text.lstrip())
    for choice, symbol in zip(choices, symbols, strict=False):
        if literal == " ".join(choice.lower().split()):
            return Reading("ok", symbol, span=(start, start + len(text.strip())), direct=True)
    return _NOTHING


def quoted_from(reading: Reading, stories: tuple[str, ...]) -> bool:
    """Whether the words of the verdict occur in one of the stories."""
    return bool(reading.words) and any(stands_in(story, reading.words) for story in stories if story)


def _prose(text: str, sides: Sides, criterion_words: frozenset[str], *, cut: bool) -> Reading:
    page = sheet(text, sides)
    sentences = page.sentences()
    stated = [
        *form_statements(page, sentences, criterion_words, cut=cut),
        *sentence_statements(page, sentences, criterion_words),
    ]
    stated += foreign_statements(page, sentences)
    if cut:
        last = len(page.line.rstrip())
        stated = [
            statement
            for statement in stated
            if statement.kind == "form" or statement.end < last or _REASON.match(page.line, statement.stop)
        ]
    decision = decide(_with_revisions(page.line, stated))
    if decision.status != "ok" or decision.statement is None:
        return Reading(decision.status)
    last = max(statement.stop for statement in stated if statement.kind not in ("part", "early"))
    if TAKES_BACK.search(page.line, last):
        return Reading("ambiguous")
    return _with_span(text, page, decision, decision.statement)


def _with_revisions(line: str, stated: list[Statement]) -> list[Statement]:
    """The answer's statements of a preference in order of position. A statement is marked as a revision where words
    before it withdraw another statement.
    """
    revised: list[Statement] = []
    last = None
    for statement in sorted(stated, key=lambda statement: statement.start):
        if statement.revises and any(other.revises and other.side != statement.side for other in revised):
            # Two that are said to be final: neither takes the other back by that word.
            statement = replace(statement, revises=THINKS_ANEW.search(line, last or 0, statement.position) is not None)  # noqa: PLW2901
        if last is not None and statement.kind != "part" and TAKES_BACK.search(line, last, max(last, statement.start)):
            statement = replace(statement, revises=True)  # noqa: PLW2901
        revised.append(statement)
        last = max(last or 0, statement.stop)
    return revised


def _with_span(text: str, page: Sheet, decision: Decision, chosen: Statement) -> Reading:
    reference = page.references.get(chosen.position)
    origin = page.origin(chosen.position)
    span = reference.label if reference is not None else (origin, max(origin + 1, page.end(chosen.stop)))
    begin, stop = page.origin(chosen.start), page.end(chosen.stop)
    if chosen.kind == "form" or not any(
        c.isalnum() for c in page.line[chosen.begin : chosen.start] + page.line[chosen.stop : chosen.end]
    ):
        if (
            chosen.kind == "form"
            and chosen.begin < chosen.start
            and not any(c.isalnum() for c in page.line[chosen.begin : chosen.start])
        ):
            begin = page.origin(chosen.begin)
        explanation = tidy(text[:begin], text[stop:])
    else:
        explanation = tidy(text, "")
    return Reading(
        "ok",
        chosen.side,
        decision.revised,
        explanation,
        span,
        chosen.direct,
        words=text[page.origin(chosen.begin) : stop],
    )
