"""The encoding of a text file: UTF-8, UTF-16 by its marks, or Windows-1252 where all letters are Western European."""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from pathlib import Path

UTF8 = "utf-8-sig"
# Encoding -> its name in sentences.
NAMES = {"utf-16": "UTF-16", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16", "cp1252": "Windows-1252 (Latin-1)"}
# Letters and marks of Western European texts. Other encodings of one byte give others, such as ³ for the Polish ł.
_ASCII = bytes(range(128))
_LETTERS = frozenset("äöüÄÖÜßàâáãåæçèéêëìíîïñòóôõøœùúûÿÀÂÁÅÆÇÈÉÊËÍÎÏÑÓÔØŒÚÛ‘’‚“”„‹›«»–—…°´·€£§©®¡¿½¼×\xa0")
_BLOCK = 1 << 20
# Share of the first bytes that are 0 from which on a file without marks has two bytes a character.
_LOOKED_AT, _ZEROS = 4096, 0.2
# Three accented letters in a row, which Western words do not have, and Cyrillic ones are made of.
_ROW = re.compile(rb"[\xc0-\xff]{3}")
# Characters of UTF-8, and the share of the other bytes than ASCII in them up to which a file is none with an odd byte.
_OF_UTF8, _MOST = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}"), 0.1


def encoding_of(path: Path) -> str:
    """The encoding by which a file is read; that of UTF-8 also where it is none, so that the reader names the
    byte. Only tables of plain text are read as Windows-1252: JSON is UTF-8 by its standard."""
    try:
        state = path.stat()
        return _encoding(path, state.st_mtime_ns, state.st_size)
    except OSError:
        return UTF8


def encoding_line(path: Path) -> list[str]:
    """A sentence on a text file that is not UTF-8, for what is said of its reading."""
    name = NAMES.get(encoding_of(path))
    return [f"written in {name}, and read so"] if name and path.suffix.lower() not in (".parquet", ".xlsx") else []


@lru_cache(maxsize=64)
def _encoding(path: Path, _changed: int, _size: int) -> str:
    with path.open("rb") as stream:
        start = stream.read(_LOOKED_AT)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16" if _decodes(path, "utf-16") else UTF8
    halves = {"utf-16-le": start[1::2], "utf-16-be": start[::2]}
    name, zeros = max(halves.items(), key=lambda half: half[1].count(0))
    if zeros.count(0) > _ZEROS * len(start) and _decodes(path, name):
        return name
    plain = path.suffix.lower() in (".csv", ".tsv")
    return "cp1252" if plain and not _decodes(path, "utf-8") and _western(path) else UTF8


def _decodes(path: Path, encoding: str) -> bool:
    """Whether the whole file is text of an encoding."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with path.open("rb") as stream:
            while block := stream.read(_BLOCK):
                decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _western(path: Path) -> bool:
    """Whether the file's bytes are Western European letters in Windows-1252, and few of them characters of UTF-8."""
    others = of_utf8 = 0
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            high = block.translate(None, _ASCII)
            if _ROW.search(block) or not {*high.decode("cp1252", "replace")} <= _LETTERS:
                return False
            others += len(high)
            of_utf8 += sum(map(len, _OF_UTF8.findall(block)))
    return of_utf8 <= _MOST * others
