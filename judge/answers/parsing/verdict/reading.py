"""Reads an answer that compares stories, as JSON or running text, and notes the characters that state the verdict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from judge.answers.parsing.ours.explanation import tidy
from judge.answers.parsing.ours.from_story import stands_in
from judge.answers.parsing.verdict.alone import boxed, closing, labelled, leading, rankings, rows, signs
from judge.answers.parsing.verdict.context import TAKES_BACK, THINKS_ANEW, Statement, sentence_statements
from judge.answers.parsing.verdict.json_verdicts import TIE, Sides, json_verdict
from judge.answers.parsing.verdict.sheet import Sentence, Sheet, sheet
from judge.base.late_pattern import late

# Verdicts in the form of an answer: in brackets, after a label, as a story's name alone, or as a ranking.


def form_statements(
    sheet: Sheet, sentences: list[Sentence], criterion_words: frozenset[str], *, cut: bool
) -> list[Statement]:
    """Every verdict in the form of an answer: a story's name alone, a labelled line, a table row, a ranking."""
    return [
        *boxed(sheet),
        *labelled(sheet, sentences, criterion_words, cut=cut),
        *rankings(sheet.line),
        *signs(sheet.line, sentences, criterion_words),
        *rows(sheet.line),
        *leading(sheet, cut=cut),
        *closing(sheet, sentences, criterion_words, cut=cut),
    ]


# Recognises short verdicts in other languages than English: sentences that say which story is better and nothing
# else.

_SIGNS = late(
    "meilleur|gewinnt|gagne|gana|vince|ganha|préfère|choisis|besser|bevorzug|wähle|mejor|prefier|elijo|miglior|preferi|scelgo|melhor|prefiro|escolho"
    "|[更胜选優良好좋낫]|いい|우수|뛰어"
)
_W, _L = "(?P<w>[①②])", "(?P<l>[①②])"
_THE = r"(?:l'|la\s|le\s|die\s|der\s|das\s|il\s|el\s|a\s|o\s)?"
_OPENING = (
    r"(?:(?:à\smon\savis|selon\smoi|dans\sl'ensemble|globalement|je\s(?:pense|trouve)\sque|ich\s(?:denke|finde)"
    r"|en\smi\sopinión|creo\sque|en\sgeneral|secondo\sme|penso\sche|nel\scomplesso|na\sminha\sopinião|acho\sque"
    r"|我认为|我觉得|总的来说|总体来说|总体而言|综上所述|综合来看|因此|所以),?\s?)?"
)
_DEGREE = (
    r"(?:(?:clairement|nettement|légèrement|un\speu|bien|klar|deutlich|etwas|eindeutig|insgesamt|claramente"
    r"|ligeramente|un\spoco|chiaramente|leggermente|ligeiramente)\s)?"
)
_NOUN = r"(?:\s(?:histoire|récit|texte|geschichte|historia|relato|storia|história))?"
_BETTER, _THAN = "(?:meilleure?|mejor|migliore|melhor)", r"(?:que|di|della|do\sque)"
_CHOOSE = (
    r"(?:je\s(?:préfère|choisis)|ich\s(?:bevorzuge|wähle)|(?:yo\s)?(?:prefiero|elijo)"
    r"|(?:io\s)?(?:preferisco|scelgo)|(?:eu\s)?(?:prefiro|escolho))"
)
_SAID = (
    rf"{_THE}{_W}\s(?:est|es|è|é)\s{_DEGREE}(?:la\s|le\s|el\s|il\s|a\s)?{_BETTER}{_NOUN}(?:\s{_THAN}\s{_THE}{_L})?",
    rf"{_THE}{_W}\sist\s{_DEGREE}(?:besser(?:\sals\s{_THE}{_L})?|die\sbessere{_NOUN})",
    rf"(?:insgesamt|meiner\smeinung\snach|daher|deshalb)\sist\s{_THE}{_W}\s{_DEGREE}(?:besser|die\sbessere{_NOUN})",
    rf"{_CHOOSE}\s{_THE}{_W}",
    rf"(?:la\smeilleure|die\sbessere|la\smejor|la\smigliore|a\smelhor){_NOUN}\s(?:est|ist|es|è|é)\s{_THE}{_W}",
    rf"(?:es\s)?gewinnt\s{_THE}{_W}",
    rf"{_THE}{_W}\s(?:gewinnt|gagne|gana|vince|ganha)",
    rf"la\sstoria\smigliore\sè\s{_THE}{_W}",
    rf"{_W}\s?(?:写得|整体|总体)?(?:更好|较好|更优秀|更胜一筹|更佳|更出色|胜出)(?:一些|一点)?",
    rf"{_W}\s?比\s?{_L}\s?(?:更好|好|更优秀|更佳|更出色)",
    rf"我?(?:更喜欢|选择|更倾向于)\s?{_W}",
    rf"更好的(?:故事)?是\s?{_W}",
    rf"{_W}\s?の(?:方|ほう)が(?:優れています|優れている|良いです|良い|いいです|いい)",
    rf"{_W}\s?(?:가|이)\s더\s(?:좋습니다|낫습니다|낫다|좋다|우수합니다|뛰어납니다)",
)
_FOREIGN_REASON = (
    r"(?:,?\s(?:car|parce|weil|denn|da|porque|ya\sque|perché|poiché|pois)\b|,?\s?因为)"
    r"(?!.{0,400}\b(?:mais|aber|pero|ma|mas|jedoch|cependant)\b)(?!.{0,400}但)[^?]{0,400}"
)
_PATTERNS = tuple(late(rf"\W{{0,4}}{_OPENING}{said}(?:{_FOREIGN_REASON})?[\s\"'*)]{{0,4}}") for said in _SAID)
_ASKS = ("?", "？")
_EVEN = late(
    r"\W{0,4}(?:(?:c'est\s)?(?:une\s)?égalité|match\snul|ex\s(?:æ|ae)quo|(?:es\sist\s)?(?:ein\s)?unentschieden"
    r"|(?:es\s)?(?:un\s)?empate|(?:è\s)?(?:un\s)?pareggio|平局|平手|不分伯仲|引き分け|무승부|ничья|gelijkspel)\W{0,4}"
)


def foreign_statements(sheet: Sheet, sentences: list[Sentence]) -> Iterator[Statement]:
    """Verdicts by whole sentences in other languages than English; words for a tie only at the answer's beginning."""
    line = sheet.line
    even = _EVEN.fullmatch(line, sentences[0].begin, sentences[0].end) if sentences else None
    if even is not None and sentences[0].mark not in _ASKS:
        yield Statement(TIE, "plain", even.start(), even.end(), even.start(), even.end(), even.start())
    if _SIGNS.search(line) is None:
        return
    for sentence in sentences:
        if sentence.mark in _ASKS:
            continue
        for pattern in _PATTERNS:
            match = pattern.fullmatch(line, sentence.begin, sentence.end)
            if match is not None and match.groupdict().get("l") != match.group("w"):
                start, end = sentence.begin, sentence.end
                yield Statement(match.group("w"), "plain", start, match.end(), start, end, match.start("w"))
                break


# Chooses among the preferences that an answer states, or gives the status that says why none can be chosen.


@dataclass(frozen=True, slots=True)
class Decision:
    """The chosen statement, or why none was chosen. `revised`: it revises an earlier one or a first impression."""

    status: Literal["ok", "no_preference", "ambiguous"]
    statement: Statement | None = None
    revised: bool = False


def decide(stated: list[Statement]) -> Decision:
    """The preference chosen from all statements of a preference in an answer, or the status where none can be chosen.

    Single aspects are ignored. The last explicit revision replaces what it revises. Statements in the form of an answer
    ("Verdict: B") and explicitly overall ones ("on the whole, B is better") must agree, and have priority over plain
    sentences. A plain sentence that contradicts them makes the answer ambiguous if it comes after all of them or if
    none is explicitly overall. Praise counts only if no statement prefers the other story or a tie."""
    whole = sorted(
        (statement for statement in stated if statement.kind not in ("part", "early")),
        key=lambda statement: statement.start,
    )
    early = [statement for statement in stated if statement.kind == "early"]
    if not whole:
        return Decision("no_preference")
    whole, revised = _from_last_revision(whole)
    plain = [statement for statement in whole if statement.kind in ("form", "overall")]
    others = [statement for statement in whole if statement.kind == "plain"]
    if plain:
        sides = {statement.side for statement in plain}
        # Sections on parts come before the verdict on the whole; what comes after it must bear it out.
        last = max(statement.start for statement in plain)
        # An answer that opens with a verdict and concludes with the other contradicts itself.
        opening = {statement.side for statement in others if statement.begin == 0}
        sides |= opening | {statement.side for statement in others if statement.start > last or _bare(plain)}
        chosen = plain
    elif others:
        sides, chosen = {statement.side for statement in others}, others
    else:
        sides, chosen = (
            {statement.side for statement in stated},
            [statement for statement in whole if statement.kind == "praise"],
        )
    if len(sides) > 1:
        return Decision("ambiguous")
    form = next((statement for statement in chosen if statement.kind == "form"), None)
    revised = revised or any(statement.side != chosen[0].side for statement in early)
    return Decision("ok", form or chosen[0], revised)


def _bare(plain: list[Statement]) -> bool:
    return all(statement.kind == "form" for statement in plain)


def _from_last_revision(whole: list[Statement]) -> tuple[list[Statement], bool]:
    places = [i for i, statement in enumerate(whole) if statement.revises]
    if not places:
        return whole, False
    last = whole[places[-1]]
    kept = [statement for statement in whole if statement.start >= last.start or statement.stop > last.start]
    dropped = [statement for statement in whole if statement not in kept]
    return kept, any(statement.side != last.side for statement in dropped)


@dataclass(frozen=True, slots=True)
class Reading:
    """Verdict of one text. `side` is a symbol (see `sides`); `direct`: the label at `span` is itself the answer;
    `words` state it."""

    status: Literal["ok", "no_preference", "ambiguous"]
    side: str | None = None
    revised: bool = False
    explanation: str | None = None
    span: tuple[int, int] | None = None
    direct: bool = False
    words: str = ""


# Behind a verdict that was cut in its sentence: nothing of the verdict itself is missing.
_REASON = late(r",?\s(?:because|since|due\sto|thanks\sto|as\s(?:it|its|the|①|②))(?!\w)")

_NOTHING = Reading("no_preference")


# Equal answers are common: a bare "A", a judge at temperature 0. They are read once.
@lru_cache(maxsize=4096)
def read(text: str, sides: Sides, criterion_words: frozenset[str], *, cut: bool) -> Reading:
    """The verdict of a cleaned answer in free form, whose JSON objects and running text must agree."""
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
