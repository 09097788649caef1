"""Finds verdicts that rank the stories: "1. B 2. A", "A > B", "B over A"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from judge.answers.parsing.verdict import context
from judge.answers.parsing.verdict.forms.pieces import FILLER, SIDE
from judge.answers.parsing.verdict.sheet import Sentence
from judge.answers.parsing.verdict.sides import OTHER, TIE
from judge.answers.parsing.verdict.statements import Statement

_SIGNS = re.compile(
    rf"(?P<a>{SIDE})\s?(?P<sign>>{{1,3}}|&gt;|≻|≫|<{{1,3}}|&lt;|≺|≪|=|≈|~|==|≅)\s?(?P<b>{SIDE})(?!'s)(?!\s?[<>=≻≺≈])"
)
_OVER = re.compile(rf"(?P<a>{SIDE})\sover\s(?P<b>{SIDE})(?!'s)")
_RANKS = re.compile(
    rf"(?:^|[\s:,;(])(?:\#\s?)?(?:1|1st|first)\s?(?:place"
    rf"|choice)?\s?[.):—–-]{{1,2}}\s?(?P<a>{SIDE})(?P<x>[^\n①②]{{0,160}}?)(?:[,;.]\s|\s|\n)+(?:\#\s?)?(?:2"
    rf"|2nd|second)\s?(?:place|choice)?\s?[.):—–-]{{1,2}}\s?(?P<b>{SIDE})(?!'s)"
)
_THIRD = re.compile(r"[^\n]{0,160}\n?\W{0,6}\b3\s?[.):]")
"""Behind the first two of a list that is longer: its points are no places."""
_RANK_WORDS = re.compile(
    r"\b(?:rank\w*|order\sof\spreference|best\s(?:to|first)|from\sbest|preference\sorder|placement|place)\b"
)
_BEST_FIRST = re.compile(
    rf"(?:\brank(?:ing|ed)?|\bbest\s(?:to\sworst|first)|\bstrongest\sto\sweakest|\border\sof\spreference)\)?\s?[:=]\s?"
    rf"(?P<a>{SIDE}),?\s(?:then\s)?(?P<b>{SIDE})(?=[.!\s]{{0,3}}(?:\n|\Z))"
)
_WORST_FIRST = re.compile(r"\bworst\s(?:to|first)|\bfrom\sworst|\bascending|\bweakest\s(?:to|first)|\breverse")


def rankings(line: str) -> Iterator[Statement]:
    """Verdicts by numbered lists such as "1. B 2. A". A list with reasons counts if the words before it say that it
    ranks.
    """
    for match in _BEST_FIRST.finditer(line):
        begin = line.rfind("\n", 0, match.start()) + 1
        before = line[begin : match.start()]
        first, second = match.group("a"), match.group("b")
        if first != second and not _WORST_FIRST.search(before) and not context.spoken_of(before):
            yield Statement(first, "form", match.start(), match.end(), begin, match.end(), match.start("a"))
    if "2" not in line and "second" not in line:
        return
    for match in _RANKS.finditer(line):
        if match.group("a") == match.group("b"):
            continue
        near = line[max(0, match.start() - 200) : match.start()]
        bare = not any(c.isalnum() for c in match.group("x")) and not any(
            c.isalnum() for c in line[match.end() :].split("\n", 1)[0]
        )
        if _THIRD.match(line, match.end()):
            continue
        bare = bare and not any(c.isalnum() for c in near)
        ranked = _RANK_WORDS.search(near) is not None
        if (ranked or bare) and not _WORST_FIRST.search(near) and not context.spoken_of(near.rsplit("\n", 1)[-1]):
            begin = line.rfind("\n", 0, match.start("a")) + 1
            part = context.HEADING.match(line, begin)
            if (
                part is not None
                and not context.verdict_heading(part.group(1))
                and not _RANK_WORDS.search(part.group(1))
                and part.group(1) not in ("1", "1st", "first")
            ):
                continue
            yield Statement(match.group("a"), "form", match.start(), match.end(), begin, match.end(), match.start("a"))


def signs(line: str, sentences: list[Sentence], criterion_words: frozenset[str]) -> Iterator[Statement]:
    """Verdicts by "A > B", "A ≻ B", "A = B" or "B over A", as a sentence or after a label such as "Verdict:"."""
    for sentence in sentences:
        for pattern in (_SIGNS, _OVER):
            match = pattern.search(line, sentence.begin, sentence.end)
            if match is None or match.group("a") == match.group("b") or sentence.mark == "?":
                continue
            before, behind = line[sentence.begin : match.start()], line[match.end() : sentence.end]
            if before.strip() and not (FILLER.fullmatch(before) or _is_verdict_label(before)):
                continue
            if context.under_part(line, sentence.begin, criterion_words) or not re.match(
                r"\W{0,4}(?:\Z|because|since|overall|by|for|due|on\sbalance|but|[—–(])", behind
            ):
                continue
            yield Statement(
                _by_sign(match),
                "form",
                match.start(),
                match.end(),
                sentence.begin,
                sentence.end,
                match.start("a"),
                context.revises(before),
            )


def _by_sign(match: re.Match[str]) -> str:
    sign = match.groupdict().get("sign", ">")
    if sign[0] in "<≺≪" or sign == "&lt;":
        return OTHER[match.group("a")]
    return match.group("a") if sign[0] in ">≻≫" or sign == "&gt;" else TIE


def _is_verdict_label(before: str) -> bool:
    label = context.HEADING.match(before)
    return label is not None and not before[label.end() :].strip() and context.verdict_heading(label.group(1))
