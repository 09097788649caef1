"""Story-prompts by their text: which are one and the same, and by what key examples of a prompt name theirs."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from judge.base.fingerprint import digest

# Two texts are near-duplicates where they share this part of the words that either has.
SHARED = 0.8
_WORD = re.compile(r"\w+")
# Tags in front of story-prompts of one forum: [WP], [ WP ], WP:.
_TAG = re.compile(r"^\s*\[?\s*(?:wp|sp|eu|pm|cw|tt|rf|mp|ip|pi|ot|cc)\s*[\]:]\s*", re.I)


def normalised(text: str) -> str:
    """The words of a story-prompt in lower case, without its tag and punctuation."""
    plain = unicodedata.normalize("NFKC", text)
    return " ".join(_WORD.findall(_TAG.sub("", plain).casefold()))


def key_of(text: str) -> str:
    """Key of a story-prompt's normalised text, of 16 hexadecimal digits; "" for a text without a word."""
    words = normalised(text)
    return digest(words, 8).hex() if words else ""


def groups_of(texts: Iterable[str]) -> dict[str, int]:
    """Text -> number of its group; near-duplicates, also by way of others, are one group. Numbers go by first
    appearance."""
    distinct = list(dict.fromkeys(texts))
    words = [normalised(text) for text in distinct]
    parent = list(range(len(distinct)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    first: dict[str, int] = {}
    for index, text in enumerate(words):
        if text:
            parent[root(index)] = root(first.setdefault(text, index))
    for one, other in _near([frozenset(text.split()) for text in words]):
        parent[root(other)] = root(one)
    numbers: dict[int, int] = {}
    return {text: numbers.setdefault(root(index), len(numbers)) for index, text in enumerate(distinct)}


def _near(sets: Sequence[frozenset[str]]) -> Iterable[tuple[int, int]]:
    """Pairs of sets whose shared words are `SHARED` of all words of both, or more. Such pairs share one of the rarest
    words of each (prefix filtering: Chaudhuri, Ganti & Kaushik 2006, ICDE), so that few pairs are compared."""
    count = Counter(word for words in sets for word in words)
    holders: dict[str, list[int]] = defaultdict(list)
    for index, words in enumerate(sets):
        rare = sorted(words, key=lambda word: (count[word], word))
        earlier: set[int] = set()
        for word in rare[: len(rare) - math.ceil(SHARED * len(rare)) + 1]:
            earlier.update(holders[word])
            holders[word].append(index)
        for other in sorted(earlier):
            both = len(words & sets[other])
            if both >= SHARED * len(words | sets[other]):
                yield other, index
