"""Finds numbers, number words and rows of stars in an answer, with their fraction or range."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf
from typing import Literal

from judge.answers.parsing import vocabulary as words
from judge.base.late_pattern import late

_WORDS = {
    "zero": 0.0,
    "one": 1.0,
    "two": 2.0,
    "three": 3.0,
    "four": 4.0,
    "five": 5.0,
    "six": 6.0,
    "seven": 7.0,
    "eight": 8.0,
    "nine": 9.0,
    "ten": 10.0,
}
_WORD = "|".join(_WORDS)
# Looking ahead for a further digit makes a match end where the number ends. Possessive quantifiers would say the same,
# but Python before 3.11.3 matches them wrongly.
_NUMBER = r"\d+(?:[.,]\d+)*(?![.,]?\d)"
_LATIN = "a-zà-öø-ÿа-я"
# What is glued to the front ("v4.5", "$3") spoils the whole literal, not its first digit alone: the other way takes it.
_LITERAL = late(rf"(?<![{_LATIN}\d.$€£/\#@^])(?<!\d:)({_NUMBER}(?![{_LATIN}\d]))|\d[\d.,]*")
_STARS = late(r"[★⭐🌟][★⭐🌟\uFE0F]*[☆✩✰]*")
_OR = r"(?:-|–|—|~|〜|to\b|or\b(?:\s(?:even|maybe|perhaps))?|,?\s?(?:maybe|perhaps|possibly)\b|and\b|bis\b|à\b)"
_TAIL = late(
    rf"""(?P<half>½|\s1/2(?!\d)|\sand\sa\shalf\b)?
    (?:(?P<clock>:\d{{1,2}}(?!\d))
      |\s{{0,2}}(?P<percent>%|％|per\s?cent\b)
      |(?P<plus>\+(?!\d))
      |\s{{0,3}}(?P<range>{_OR}\s{{0,2}}(?:an?\s)?\s{{0,2}})(?P<high>{_NUMBER}|(?:{_WORD})\b)(?![{_LATIN}\d])
    )?
    (?:\s{{0,3}}(?:-?stars?\s|points?\s)?\(?
       (?P<sign>[/／]|out\sof(?:\sa\s(?:possible|maximum|total)(?:\sof)?|\s(?:the|all|its|their))?\b|on\sa\sscale\s(?:of|from)\s(?:\d\s?(?:to|-|–)\b)?|sur\b|von\b|su\b|de\b|из\b)\s{{0,4}}
       (?P<out_of>\d+(?!\d)(?:[.,]\d+(?!\d)|(?![.,]\d))(?![{_LATIN}])|(?:{_WORD})\b)(?P<date>/)?\)?
       (?:\s?{_OR}\s?(?:an?\s)?\s?(?P<higher>{_NUMBER})\s?[/／]\s?\d+)?
    )?""",
    re.VERBOSE,
)
# Where neither one of these nor a blank stands, `_TAIL` finds nothing.
_BEGINS_TAIL = frozenset("½:%％+-–—~〜,(/／tompabàsvdи")
_THOUSANDS = late(r"\d{1,3}(?:,\d{3})+\Z")
_LENGTHS = tuple((word, len(word)) for word in _WORDS)


@dataclass(frozen=True, slots=True)
class Mention:
    """A number at [start, end), to `stop` with its fraction or range. `high` ends a range (infinity for "4+"); `out_of`
    is a denominator."""

    start: int
    end: int
    stop: int
    value: float
    kind: Literal["digits", "word", "stars"]
    out_of: float | None = None
    high: float | None = None
    percent: bool = False


def mentions(low: str) -> list[Mention]:
    """A lower-case text's numbers, in order; of very many, the first and last."""
    kept = words.first_and_last(list(_walk(low)))
    return [replace(mention, high=inf) if _compared(low, mention) else mention for mention in kept]


def number(literal: str) -> float | None:
    """Value of a number as written: "4", "4.5", "4,5", "1,000", "four"; None for texts such as "1.2.3"."""
    if literal in _WORDS:
        return _WORDS[literal]
    if literal.isdigit():
        return float(literal)
    if _THOUSANDS.match(literal):
        return float(literal.replace(",", ""))
    if literal.count(",") + literal.count(".") > 1:
        return None
    return float(literal.replace(",", "."))


def _walk(low: str) -> Iterator[Mention]:
    done = 0
    for start, end, kind in sorted(_literals(low)):
        if start < done:
            continue
        if kind == "stars":
            mention: Mention | None = _stars(low, start, end)
        else:
            value = number(low[start:end].lstrip("-−"))
            if value is None:
                continue
            value = -value if low[start] in "-−" else value
            mention = _with_tail(low, start, end, value, "word" if kind == "word" else "digits")
        if mention is not None:
            done = mention.stop
            yield mention


_COMPARES = late(r"[<>≤≥≦≧⩽⩾]=?[ \t]{0,2}\Z")
_NO_COMPARISON = late(r"<[^<>\n]{0,60}>[ \t]{0,2}\Z|[=>-]>[ \t]{0,2}\Z|(?:\A|\n)[ \t]{0,3}>[ \t]{1,2}\Z")


def _compared(low: str, mention: Mention) -> bool:
    # A bound is no rating (">3"). Tags, arrows and ">" at a line's start are no comparison signs.
    if low[max(0, mention.start - 3) : mention.start].rstrip(" \t")[-1:] not in tuple("<>≤≥≦≧⩽⩾="):
        return False
    first = max(0, mention.start - 66)
    match = _COMPARES.search(low, max(0, mention.start - 4), mention.start)
    if match is None or _NO_COMPARISON.search(low, first, mention.start):
        return False
    return not (match.group()[0] == "<" and low[mention.stop : mention.stop + 2].lstrip().startswith((">", "/>")))


def _literals(low: str) -> Iterator[tuple[int, int, str]]:
    for literal in _LITERAL.finditer(low):
        if literal.lastindex is None:
            continue
        start, end = literal.span()
        signed = low[start - 1 : start] in ("-", "−") and (start == 1 or low[start - 2] in " \t\n:=([")
        yield start - signed, end, "digits"
    for word, length in _LENGTHS:
        start = low.find(word)
        while start >= 0:
            end = start + length
            alone = not (low[start - 1 : start].isalnum() or low[end : end + 1].isalnum())
            if alone and _may_rate(low, start, end):
                yield start, end, "word"
            start = low.find(word, end)
    if "★" in low or "⭐" in low or "🌟" in low:
        for row in _STARS.finditer(low):
            yield row.start(), row.end(), "stars"


def _with_tail(low: str, start: int, end: int, value: float, kind: Literal["digits", "word"]) -> Mention | None:
    # None for clock times and dates.
    follows = low[end : end + 1]
    if follows in "\n" or not (follows in _BEGINS_TAIL or follows.isspace()):
        return Mention(start, end, end, value, kind)
    tail = _TAIL.match(low, end)
    if tail is None or tail.end() == end:
        return Mention(start, end, end, value, kind)
    if tail["clock"] or tail["date"]:
        return None
    if tail["half"]:
        value += 0.5
        end = tail.end("half")
    other_end = tail["high"] or tail["higher"]
    high = number(other_end) if other_end else None
    stop = tail.end()
    if (tail["range"] or "").startswith("and") and "between" not in low[max(0, start - 24) : start]:
        return Mention(start, end, end, value, kind)
    if tail["plus"]:
        high = float("inf")
    out_of = number(tail["out_of"]) if tail["out_of"] else None
    return Mention(start, end, stop, value, kind, out_of, high, bool(tail["percent"]))


def _stars(low: str, start: int, end: int) -> Mention:
    row = low[start:end]
    empty = sum(row.count(c) for c in "☆✩✰")
    full = sum(row.count(c) for c in "★⭐🌟")
    half = low[end : end + 1] == "½"
    return Mention(start, end + half, end + half, full + 0.5 * half, "stars", float(full + empty) if empty else None)


def _may_rate(low: str, start: int, end: int) -> bool:
    # Most number words rate nothing: "one or two things".
    before = low[max(0, start - 12) : start].rstrip(" *_\"'([")
    if not before.strip() or before[-1] in ":=\n-–—>：,.!?{":
        return True
    if before.rsplit(None, 1)[-1] in _BEFORE_WORD:
        return True
    return low.startswith((" out of ", " stars", " sur ", " von ", " su "), end)


_BEFORE_WORD = words.word_set("a an of is as at it story rating score to be solid strong weak overall between")
