"""Meanings out of WordNet's files, from made-up ones of a few lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.base.errors import DataError
from judge.inputs.perturbations.word_replacement import opposites, sisters, synonyms
from judge.inputs.wordnet import WordNet


def _files(folder: Path, part: str, synsets: list[tuple[str, list[str], list[tuple[str, int, str]]]]) -> None:
    """Files of one part of speech: (letter, words, pointers to the synset at a position)."""
    places, position = [], 0
    for _ in range(2):  # the places depend on the lines' lengths, which do not depend on the places
        lines, found, position = [], [], 0
        for letter, words, pointers in synsets:
            targets = [(symbol, (places or [0] * len(synsets))[to], ends) for symbol, to, ends in pointers]
            line = f"{position:08d} 03 {letter} {len(words):02x} " + " ".join(f"{word} 0" for word in words)
            line += f" {len(targets):03d}" + "".join(f" {s} {to:08d} {letter} {ends}" for s, to, ends in targets)
            lines.append(f"{line} | a meaning\n")
            found.append(position)
            position += len(lines[-1])
        places = found
    (folder / f"data.{part}").write_text("".join(lines))
    senses: dict[str, list[int]] = {}
    for place, (_, words, _) in zip(places, synsets, strict=True):
        for word in words:
            senses.setdefault(word, []).append(place)
    index = [
        f"{word} {part[0]} {len(some)} 0 {len(some)} {len(some)} " + " ".join(f"{one:08d}" for one in some) + "\n"
        for word, some in sorted(senses.items())
    ]
    (folder / f"index.{part}").write_text("".join(index))


@pytest.fixture
def wordnet(tmp_path: Path) -> WordNet:
    noun = [
        ("n", ["fruit"], [("~", 1, "0000"), ("~", 2, "0000")]),
        ("n", ["apple"], [("@", 0, "0000")]),
        ("n", ["pear", "poire_william"], [("@", 0, "0000")]),
        ("n", ["road", "route"], []),
    ]
    adjective = [("a", ["good"], [("!", 1, "0101")]), ("a", ["bad"], [("!", 0, "0101")])]
    _files(tmp_path, "noun", noun)
    _files(tmp_path, "adj", adjective)
    _files(tmp_path, "verb", [("v", ["go"], [])])
    _files(tmp_path, "adv", [("r", ["well"], [])])
    return WordNet(tmp_path)


def test_meanings(wordnet: WordNet) -> None:
    assert opposites(wordnet, "good", "adj") == ("bad",)
    assert sisters(wordnet, "apple", "noun") == ("pear",)
    assert synonyms(wordnet, "route", "noun") == ("road",)
    assert synonyms(wordnet, "apple", "noun") == ()
    assert wordnet.synonyms("pears") == {"pears", "pear"}
    (sense,) = wordnet.senses("pear", "noun")
    assert sense.words == ("pear",)
    assert wordnet.rank("pear", "noun", sense.offset) == 0
    assert wordnet.rank("pear", "noun", sense.offset + 1) is None


def test_files_with_other_line_ends_are_refused(tmp_path: Path, wordnet: WordNet) -> None:
    assert wordnet.senses("apple", "noun")
    data = tmp_path / "data.noun"
    data.write_bytes(data.read_bytes().replace(b"\n", b"\r\n"))
    with pytest.raises(DataError, match="do not belong together"):
        WordNet(tmp_path).senses("pear", "noun")
