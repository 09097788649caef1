"""Synonyms out of WordNet 3.0's own files (index, data and exception lists). Knows nothing else of WordNet."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path

from judge.datasets.locate import registered
from judge.errors import DataError, SpecError

PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
HINT = (
    "Debian's package wordnet-base holds its files; from elsewhere: judge data add wordnet FOLDER (with index.noun, "
    "data.noun, noun.exc and so on)"
)
_SYSTEM = (Path("/usr/share/wordnet"), Path("/usr/share/nltk_data/corpora/wordnet"))
_ENDINGS: dict[str, tuple[tuple[str, str], ...]] = {
    "noun": (
        ("s", ""),
        ("ses", "s"),
        ("ves", "f"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "verb": (
        ("s", ""),
        ("ies", "y"),
        ("es", "e"),
        ("es", ""),
        ("ed", "e"),
        ("ed", ""),
        ("ing", "e"),
        ("ing", ""),
    ),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}


def find() -> Path | None:
    """The folder of WordNet's files: one that was added as `wordnet`, the system's, or NLTK's; None without one."""
    added = registered().get("wordnet")
    nltk = [Path(part) / "corpora" / "wordnet" for part in os.environ.get("NLTK_DATA", "").split(os.pathsep) if part]
    places = [*([added.path] if added is not None else []), *nltk, *_SYSTEM]
    return next((place for place in places if _complete(place)), None)


def _complete(place: Path) -> bool:
    return all((place / f"{kind}.{part}").is_file() for part in PARTS for kind in ("index", "data"))


class WordNet:
    """The files of one folder. Index and exceptions are read whole, synonyms as they are asked for."""

    def __init__(self, folder: Path) -> None:
        if not _complete(folder):
            raise SpecError(f"{folder} holds no WordNet 3.0", hint=HINT)
        self._offsets = {part: _index(folder / f"index.{part}") for part in PARTS}
        self._irregular = {part: _exceptions(folder / f"{part}.exc") for part in PARTS}
        self._data = {part: (folder / f"data.{part}").read_bytes() for part in PARTS}
        self.synonyms = lru_cache(maxsize=1 << 17)(self._synonyms)
        self.synonyms_before_3_6 = lru_cache(maxsize=1 << 17)(partial(self._synonyms, again=True))

    def _synonyms(self, word: str, *, again: bool = False) -> frozenset[str]:
        """The single words of every synset of the word and its base forms, and the word itself.

        With `again` endings are cut off as often as it takes to find a form, as NLTK did until version 3.6.
        """
        found = {word}
        for part in PARTS:
            for form in self._forms(word.lower(), part, again=again):
                for offset in self._offsets[part][form]:
                    found.update(self._words(part, offset))
        return frozenset(found)

    def _forms(self, word: str, part: str, *, again: bool) -> list[str]:
        known = self._offsets[part]
        irregular = self._irregular[part].get(word)
        others = irregular if irregular is not None else _without_endings([word], part)
        found = [form for form in dict.fromkeys((word, *others)) if form in known]
        while again and irregular is None and others and not found:
            others = _without_endings(others, part)
            found = [form for form in dict.fromkeys(others) if form in known]
        return found

    def _words(self, part: str, offset: int) -> list[str]:
        data = self._data[part]
        cells = data[offset : data.index(b"\n", offset)].split(b" | ")[0].decode("utf-8").split()
        if int(cells[0]) != offset:
            raise DataError(f"WordNet's data.{part} and index.{part} do not belong together")
        names = cells[4 : 4 + 2 * int(cells[3], 16) : 2]
        # An adjective may carry where it stands, as in "galore(ip)".
        return [bare for bare in (name.partition("(")[0] for name in names) if "_" not in bare]


def _without_endings(words: Sequence[str], part: str) -> list[str]:
    return [word[: -len(old)] + new for word in words for old, new in _ENDINGS[part] if word.endswith(old)]


def _index(path: Path) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith(" "):
            cells = line.split()
            found[cells[0]] = [int(cell) for cell in cells[-int(cells[2]) :]]
    return found


def _exceptions(path: Path) -> dict[str, list[str]]:
    if not path.is_file():
        return {}
    return {cells[0]: cells[1:] for line in path.read_text(encoding="utf-8").splitlines() if (cells := line.split())}
