"""Finds sentence boundaries without a tagger, in plain texts and in tokenised texts.

Published datasets come in both forms: `He left. "Why?" she asked.` and ``he left . `` why ? '' she asked .``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from judge.inputs.perturbations.english.tokens import PLACEHOLDER

_END = re.compile(
    r"(?:[.!?…]+(?:\s[.!?…](?!\S))*[\"”’)\]]*(?:'+(?!\w))?(?:\s+(?:''|[”\"’)\]](?=\s|$)))?)(?=\s|$)\s*|\n\s*"
)
_SHORT = re.compile(r"(?:^|[\s(\"'`“])(?:mr|mrs|ms|dr|st|jr|sr|prof|vs|no|[a-z])\s?\.$", re.IGNORECASE)
_LETTER_ALONE = re.compile(r"(?:^|\s)[ia]\s?\.$", re.IGNORECASE)
_GOES_ON = re.compile(r"[a-z]")
_WORD = re.compile(r"\w")


class Sentence(NamedTuple):
    """Span of one sentence, with its punctuation but without the white space after it."""

    start: int
    end: int


def sentences(text: str) -> list[Sentence]:
    """All sentences of a text, in order. A sentence without any letter or digit is joined to the previous one."""
    spans: list[Sentence] = []
    # Of a text without capitals nobody can tell whether a sentence goes on behind a quotation.
    cased = any(character.isupper() for character in PLACEHOLDER.sub("", text))
    start = _first(text, 0)
    for end in _END.finditer(text):
        if end.end() < len(text) and _open(text, start, end, cased=cased):
            continue
        _add(spans, text, start, end.start() + len(end.group().rstrip()))
        start = end.end()
    _add(spans, text, start, len(text.rstrip()))
    return spans


def _first(text: str, at: int) -> int:
    return at + len(text[at:]) - len(text[at:].lstrip())


def _open(text: str, start: int, end: re.Match[str], *, cased: bool) -> bool:
    """Whether the punctuation mark found by `end` does not end the sentence that begins at `start`. It then belongs to
    an abbreviation or, if the text has capital letters (`cased`), to a quoted question after which the sentence goes
    on, as in `"Why?" he`.
    """
    if "\n" in end.group():
        return False
    mark = text[start : end.start() + 1]
    if _SHORT.search(mark) and not _LETTER_ALONE.search(mark):
        return True
    if text.count('"', start, end.end()) % 2:  # a sentence within a quotation: whole quotations move together
        return False
    quoted = end.group().rstrip()[-1:] in "\"”'’"
    return cased and quoted and bool(_GOES_ON.match(text, end.end()))


def _add(spans: list[Sentence], text: str, start: int, end: int) -> None:
    end = start + len(text[start:end].rstrip())
    if end <= start:
        return
    if spans and not _WORD.search(text, start, end):
        spans[-1] = Sentence(spans[-1].start, end)
    else:
        spans.append(Sentence(start, end))
