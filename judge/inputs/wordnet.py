"""Synonyms, opposites and related words, read from the files of WordNet 3.0 (index, data and exception lists)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from judge.base.errors import DataError, SpecError

PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
HINT = (
    "Debian's package wordnet-base holds its files; from elsewhere: judge data add wordnet FOLDER (with index.noun, "
    "data.noun, noun.exc and so on)"
)
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


def complete(folder: Path) -> bool:
    """Whether the folder holds all index and data files of WordNet; its exception lists may be missing."""
    return all((folder / f"{kind}.{part}").is_file() for part in PARTS for kind in ("index", "data"))


@dataclass(frozen=True, slots=True)
class Sense:
    """One synset (meaning) of a word, identified by its `offset` in the data file. `words` and `opposites` are single
    words, in WordNet's order and case; `above` and `below` are offsets of hypernyms and hyponyms. `field` numbers the
    lexicographer file, a topic, such as 18 for nouns that denote persons."""

    offset: int
    words: tuple[str, ...]
    opposites: tuple[str, ...]
    above: tuple[int, ...]
    below: tuple[int, ...]
    field: int


class WordNet:
    """WordNet in one folder. Index and exception lists are parsed when it is opened, synsets when needed."""

    def __init__(self, folder: Path) -> None:
        if not complete(folder):
            raise SpecError(f"{folder} holds no WordNet 3.0", hint=HINT)
        indexed = {part: _index(folder / f"index.{part}") for part in PARTS}
        self._offsets = {part: {word: entry[0] for word, entry in words.items()} for part, words in indexed.items()}
        self._tagged = {part: {word: entry[1] for word, entry in words.items()} for part, words in indexed.items()}
        self._irregular = {part: _exceptions(folder / f"{part}.exc") for part in PARTS}
        self._data = {part: (folder / f"data.{part}").read_bytes() for part in PARTS}
        self.senses = lru_cache(maxsize=1 << 15)(self._senses)
        self.synonyms = lru_cache(maxsize=1 << 17)(self._synonyms)
        self.synonyms_before_3_6 = lru_cache(maxsize=1 << 17)(partial(self._synonyms, again=True))

    def rank(self, word: str, part: str, offset: int) -> int | None:
        """Rank of the meaning at `offset` by frequency, from 0; None where the word lacks it in WordNet's tagged
        texts."""
        places = self._offsets[part].get(word.lower(), [])
        counted = places[: self._tagged[part].get(word.lower(), 0)]
        return counted.index(offset) if offset in counted else None

    def _senses(self, lemma: str, part: str) -> tuple[Sense, ...]:
        return tuple(self._sense(lemma, part, offset) for offset in self._offsets[part].get(lemma, ()))

    def sense_at(self, part: str, offset: int) -> Sense:
        """The synset at an offset in the data file of a part of speech."""
        return self._sense("", part, offset)

    def _sense(self, lemma: str, part: str, offset: int) -> Sense:
        cells = self._cells(part, offset)
        count = int(cells[3], 16)
        names = [name.partition("(")[0] for name in cells[4 : 4 + 2 * count : 2]]
        own = next((at for at, name in enumerate(names, 1) if name.lower() == lemma), 0)
        pointers = cells[5 + 2 * count :]
        opposites, above, below = [], [], []
        for symbol, target, _, ends in zip(*(pointers[at::4] for at in range(4)), strict=False):
            if symbol == "!" and own == int(ends[:2], 16):
                named = [name.partition("(")[0] for name in self._cells(part, int(target))[4::2]]
                opposites.append(named[int(ends[2:], 16) - 1])
            elif symbol in ("@", "@i"):
                above.append(int(target))
            elif symbol == "~":
                below.append(int(target))
        single = tuple(name for name in names if "_" not in name)
        return Sense(
            offset, single, tuple(w for w in opposites if "_" not in w), tuple(above), tuple(below), int(cells[1])
        )

    def _cells(self, part: str, offset: int) -> list[str]:
        data = self._data[part]
        cells = data[offset : data.find(b"\n", offset)].split(b" | ")[0].decode("utf-8", "replace").split()
        if not cells or cells[0] != f"{offset:08d}":
            raise DataError(
                f"WordNet's data.{part} and index.{part} do not belong together",
                hint="files of one release are needed, with the line ends of Unix: they count bytes",
            )
        return cells

    def _synonyms(self, word: str, *, again: bool = False) -> frozenset[str]:
        # `again` removes endings repeatedly until a base form is found, as in NLTK before version 3.6.
        synonyms = {word}
        for part in PARTS:
            for form in self._forms(word.lower(), part, again=again):
                for offset in self._offsets[part][form]:
                    synonyms.update(self._words(part, offset))
        return frozenset(synonyms)

    def _forms(self, word: str, part: str, *, again: bool) -> list[str]:
        offsets = self._offsets[part]
        irregular = self._irregular[part].get(word)
        others = irregular if irregular is not None else _without_endings([word], part)
        forms = [form for form in dict.fromkeys((word, *others)) if form in offsets]
        while again and irregular is None and others and not forms:
            others = _without_endings(others, part)
            forms = [form for form in dict.fromkeys(others) if form in offsets]
        return forms

    def _words(self, part: str, offset: int) -> list[str]:
        cells = self._cells(part, offset)
        names = cells[4 : 4 + 2 * int(cells[3], 16) : 2]
        # An adjective may carry where it stands, as in "galore(ip)".
        return [bare for bare in (name.partition("(")[0] for name in names) if "_" not in bare]


def _without_endings(words: Sequence[str], part: str) -> list[str]:
    return [word[: -len(old)] + new for word in words for old, new in _ENDINGS[part] if word.endswith(old)]


def _index(path: Path) -> dict[str, tuple[list[int], int]]:
    # Offsets go from the most frequent meaning; the count is of those that occur in WordNet's tagged texts.
    index: dict[str, tuple[list[int], int]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith(" "):
            cells = line.split()
            count = int(cells[2])
            index[cells[0]] = [int(cell) for cell in cells[-count:]], int(cells[-count - 1])
    return index


def _exceptions(path: Path) -> dict[str, list[str]]:
    if not path.is_file():
        return {}
    return {cells[0]: cells[1:] for line in path.read_text(encoding="utf-8").splitlines() if (cells := line.split())}
