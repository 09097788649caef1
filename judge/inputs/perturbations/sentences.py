"""Sentence boundaries without a tagger, in plain and tokenised texts, which datasets come in: `He left. "Why?" she
asked.` and ``he left . `` why ? '' she asked .``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from judge.base.late_pattern import late

# Splits a text into tokens with positions, as an English tagger expects them. A placeholder is one token.

# What stands for a name or a break in the studies' texts: `[MALE]`, `<newline>`. No edit goes into one.
PLACEHOLDER = late(r"\[[A-Z][A-Z_0-9]*\]|<[a-zA-Z_|/][^<>\s]{0,24}>")

_TOKEN = late(
    PLACEHOLDER.pattern + r"|[nN]\s?['’]\s?[tT]\b"
    r"|['’](?:[sSmMdD]|[rR][eE]|[vV][eE]|[lL][lL])\b"
    r"|\d+(?:[.,:]\d+)*"
    r"|[^\W\d_]+?(?=[nN]['’][tT]\b)|[^\W_]+(?:\.[^\W\d_](?=\.))*"
    r"|\.(?:\s?\.)+|-{2,}|``|''|\S"
)


class Piece(NamedTuple):
    start: int
    end: int


def pieces(text: str) -> list[Piece]:
    """All tokens of the text, in order."""
    return [Piece(*match.span()) for match in _TOKEN.finditer(text)]


def protected(text: str) -> list[Piece]:
    """Spans of all placeholders, such as `[MALE]` and `<newline>`, in which nothing is edited."""
    return [Piece(*match.span()) for match in PLACEHOLDER.finditer(text)]


def words(text: str) -> Iterator[Piece]:
    """Spans of words: runs of letters with apostrophes and hyphens, without placeholders such as `[MALE]`."""
    for match in re.finditer(PLACEHOLDER.pattern + r"|[^\W\d_]+(?:['’-][^\W\d_]+)*", text):
        if not PLACEHOLDER.match(match.group()):
            yield Piece(*match.span())


_END = late(r"(?:[.!?…]+(?:\s[.!?…](?!\S))*[\"”’)\]]*(?:'+(?!\w))?(?:\s+(?:''|[”\"’)\]](?=\s|$)))?)(?=\s|$)\s*|\n\s*")
_SHORT = late(r"(?:^|[\s(\"'`“])(?:mr|mrs|ms|dr|st|jr|sr|prof|vs|no|[a-z])\s?\.$", re.IGNORECASE)
_LETTER_ALONE = late(r"(?:^|\s)[ia]\s?\.$", re.IGNORECASE)
_GOES_ON = late(r"[a-z]")
_WORD = late(r"\w")


class Sentence(NamedTuple):
    """Span of one sentence, with its punctuation but without the white space after it."""

    start: int
    end: int


def sentences(text: str) -> list[Sentence]:
    """All sentences, in order. One without any letter or digit is joined to the previous one."""
    spans: list[Sentence] = []
    # Of a text without capitals nobody can tell whether a sentence goes on behind a quotation.
    cased = any(character.isupper() for character in PLACEHOLDER.sub("", text))
    start = len(text) - len(text.lstrip())
    for end in _END.finditer(text):
        if end.end() < len(text) and _open(text, start, end, cased=cased):
            continue
        _add(spans, text, start, end.start() + len(end.group().rstrip()))
        start = end.end()
    _add(spans, text, start, len(text.rstrip()))
    return spans


def _open(text: str, start: int, end: re.Match[str], *, cased: bool) -> bool:
    # The mark belongs to an abbreviation or, if the text has capital letters, to a quoted question after which the
    # sentence goes on, as in `"Why?" he`.
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
