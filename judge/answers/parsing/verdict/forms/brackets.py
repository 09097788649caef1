r"""Finds verdicts in brackets, boxes or tags, or after a tick: "[[B]]", "\boxed{A}", "<verdict>B</verdict>"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from judge.answers.parsing.verdict import context, lead_ins
from judge.answers.parsing.verdict.forms.pieces import ANY, OPTION_BEHIND, form
from judge.answers.parsing.verdict.sheet import Sheet
from judge.answers.parsing.verdict.statements import Statement
from judge.answers.parsing.words import phrases

_BOXED = re.compile(
    rf"(?:\[\[\s?(?:story\s)?|\[\s?[x✓✔]\s?\]\s{{0,2}}|[☑☒✅✔✓◉]\s{{0,2}}|\bboxed\s?\{{\s?(?:text(?:bf|rm)?\s?\{{\s?)?|【\s?|\[results?\]\s?:?\s?[(\[]?"
    rf"|<(?:final[ _-]?)?(?:answer|verdict|winner|choice|preference|decision|judge?ment|result|output"
    rf"|better|preferred|label|vote|best)>\s{{0,3}}(?:\[\[)?)"
    rf"(?P<v>{ANY})(?=\s{{0,3}}(?:\]\]|\}}|】|</|[)\]]|[.!\n]|\Z))"
)
_TOLD = re.compile(
    r"(?:\A|[.!?:;,\n]\s{0,3}|\b(?:please|and|then|must|should|to|only|either|or|with)\s)(?:answer|respond"
    r"|reply|output|write|print|return|say|use|choose|select|end|give|put|type|state|begin|start|finish"
    r"|conclude)\b(?![^.!?\n]{0,80}\b(?:i|my)\b)[^.!?\n]{0,80}\Z"
)
_OWN_TELLING = re.compile(r"\b(?:i|i'd|i'll|we)\s(?:\w+\s){0,3}\Z|\bmy\b[^.!?\n]{0,40}\Z")
_OPTION_BEFORE = re.compile(
    r"[①②⓪](?:\]\]|\})?[\"']?\s{0,2}(?:,|,?\s?(?:or|and)|/|\|)\s{0,2}[\"']?(?:\[\[|boxed\s?\{)?\s{0,1}\Z"
)
_CLOSED = re.compile(r"\s{0,3}(?:\]\]|\}{1,2}\$?|】|</[a-z _-]{1,20}>|[)\]])?")


def boxed(sheet: Sheet) -> Iterator[Statement]:
    line = sheet.line
    if not any(sign in line for sign in ("[", "boxed", "<", "【", "✅", "✔", "✓", "☑", "☒", "◉")):
        return
    for match in _BOXED.finditer(line):
        start = match.start("v")
        begin = max(line.rfind(stop, 0, match.start()) + 1 for stop in ("\n", ". ", "? ", "! "))
        before, behind = line[begin : match.start()], line[match.end() :][:40]
        if not lead_ins.own(before, names=True):
            continue
        told_so = _TOLD.search(before[-160:]) is not None and not _OWN_TELLING.search(
            before[:60] if len(before) < 60 else before
        )
        if told_so or OPTION_BEHIND.match(behind) or _OPTION_BEFORE.search(before):
            continue
        if context.spoken_of(before[-160:]) or phrases.TEMPLATE.search(line, max(0, match.start() - 80), match.start()):
            continue
        yield form(match.group("v"), match.start(), _closed(line, match.end()), begin, start, context.revises(before))


def _closed(line: str, stop: int) -> int:
    end = _CLOSED.match(line, stop)
    return end.end() if end else stop
