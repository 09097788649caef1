"""Which story or tie the sentences of a comparing answer prefer, overall or for one aspect."""

from __future__ import annotations

import re
from dataclasses import dataclass

from judge.answers.parsing.verdict import context
from judge.answers.parsing.verdict.json_verdicts import FIRST, OTHER, SECOND, TIE
from judge.answers.parsing.verdict.phrasing import PREFERS, TIES, Phrases, possible
from judge.answers.parsing.verdict.sheet import Sentence, Sheet
from judge.base.late_pattern import late

# Half the characters of a sentence that are read, its last ones: this bounds the time for a text without stops.
_REACH = 700

_SIDES = (FIRST, SECOND)


@dataclass(frozen=True, slots=True)
class Statement:
    """A preference at [start, stop) of a `Sheet`'s `line`, in the sentence or label [begin, end).

    `kind` is `form` (an answer: "Verdict: B"), `overall` (explicitly: "on the whole, B is better"), `plain` (it does
    not say), `praise` (no verdict if any statement speaks against it), or, never verdicts, `part` (one aspect) and
    `early` (called a first impression). `side` is the symbol of the preferred story or of a tie, and `position` where
    the story is named. `revises`: it withdraws earlier statements. `direct`: the label at `position` is itself the
    answer."""

    side: str
    kind: str
    start: int
    stop: int
    begin: int
    end: int
    position: int
    revises: bool = False
    direct: bool = False


def sentence_statements(sheet: Sheet, sentences: list[Sentence], criterion_words: frozenset[str]) -> list[Statement]:
    """The preferences that the sentences state, without duplicates."""
    statements: list[Statement] = []
    prefers, ties = possible(PREFERS, sheet.line), possible(TIES, sheet.line)
    for sentence in sentences:
        begin, end = max(sentence.begin, sentence.end - 2 * _REACH), sentence.end
        part = sheet.line[begin:end]
        if FIRST in part or SECOND in part:
            statements += _preferences(
                sheet.line, Sentence(begin, end, sentence.mark), possible(prefers, part), criterion_words
            )
        if tie_phrases := possible(ties, part):
            statements += _ties(sheet.line, Sentence(begin, end, sentence.mark), tie_phrases, criterion_words)
    return statements


def _preferences(line: str, sentence: Sentence, phrases: Phrases, criterion_words: frozenset[str]) -> list[Statement]:
    statements: list[Statement] = []
    for phrase in phrases:
        for match in phrase.pattern.finditer(line, sentence.begin, sentence.end):
            side, position = _winner(match)
            if side is None:
                continue
            how = context.stated(
                line, sentence.begin, match.start(), match.end(), sentence.end, sentence.mark, criterion_words
            )
            if how == "denied":
                continue
            soft = "soft" in match.groupdict() and match.group("soft") is not None
            kind = "praise" if soft and how != "part" else how
            if kind == "praise" and _rivalled(line, match, side, overall=how == "overall"):
                continue
            before = line[sentence.begin : match.start()]
            statements.append(
                Statement(
                    side,
                    kind,
                    match.start(),
                    match.end(),
                    sentence.begin,
                    sentence.end,
                    position,
                    context.revises(before),
                )
            )
    return statements


_COMPARES = late(
    r"[^.!?;\n①②]{0,60}?\b(?:more|better|stronger|superior|best|wins?|edge|ahead|most|(?!other|after|under"
    r"|over|never|ever|reader|character|whether|rather|however|writer|together)\w{3,}er)\b"
)


def _rivalled(line: str, match: re.Match[str], side: str, *, overall: bool) -> bool:
    # Praise that is not compared with the other story, or while the other is praised too, is no verdict.
    if not overall and match.groupdict().get("l") is None:
        return True
    other = OTHER[side]
    position = line.find(other)
    while position >= 0:
        if _COMPARES.match(line, position + 1):
            return True
        position = line.find(other, position + 1)
    return False


_CANNOT = late(r"i\s[^①②]{0,30}?(?:can|unable|able|could)")
# Behind "I cannot choose between them": a hindrance, and no tie.
_REASON = late(r",?\s(?:because|without|until|unless|as|since|due|for|if|in\sgood)\b")


def _winner(match: re.Match[str]) -> tuple[str | None, int]:
    # The story is None where winner and loser are the same or unknown.
    groups = match.groupdict()
    winner, loser = groups.get("w"), groups.get("l")
    if winner is not None and loser == winner:
        return None, 0
    if winner is not None:
        return winner, match.start("w")
    if loser in _SIDES:
        return OTHER[loser], match.start("l")
    return None, 0


def _ties(line: str, sentence: Sentence, phrases: Phrases, criterion_words: frozenset[str]) -> list[Statement]:
    statements: list[Statement] = []
    for phrase in phrases:
        for match in phrase.pattern.finditer(line, sentence.begin, sentence.end):
            groups = match.groupdict()
            if groups.get("x") is not None and groups["x"] == groups["y"]:
                continue
            how = context.stated(
                line, sentence.begin, match.start(), match.end(), sentence.end, sentence.mark, criterion_words
            )
            if how == "denied" or (how != "part" and context.goes_on_but(line[match.end() : sentence.end])):
                continue
            if _CANNOT.match(match.group()) and _REASON.match(line, match.end()):
                continue
            before = line[sentence.begin : match.start()]
            statements.append(
                Statement(
                    TIE,
                    how,
                    match.start(),
                    match.end(),
                    sentence.begin,
                    sentence.end,
                    match.start(),
                    context.revises(before),
                )
            )
    return statements
