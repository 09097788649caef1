"""Splits a text into tokens with positions, as an English tagger expects them. A placeholder is one token.

A contraction is two tokens (`did n't`, `she 's`), whether the text prints it with or without a space.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

PLACEHOLDER = re.compile(r"\[[A-Z][A-Z_0-9]*\]|<[a-zA-Z_|/][^<>\s]{0,24}>")
"""What stands for a name or a break in the studies' texts: `[MALE]`, `<newline>`. No edit goes into one."""

_TOKEN = re.compile(
    PLACEHOLDER.pattern + r"|[nN]\s?['’]\s?[tT]\b"
    r"|['’](?:[sSmMdD]|[rR][eE]|[vV][eE]|[lL][lL])\b"
    r"|\d+(?:[.,:]\d+)*"
    r"|[^\W\d_]+?(?=[nN]['’][tT]\b)|[^\W_]+(?:\.[^\W\d_](?=\.))*"
    r"|\.(?:\s?\.)+|-{2,}|``|''|\S"
)


class Piece(NamedTuple):
    """Start and end of one token in the text."""

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
