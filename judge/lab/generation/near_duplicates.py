"""Near-duplicates: pairs of stories by one model that share many of their word n-grams, among all pairs."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

LENGTH = 8
"""Words of a gram."""

SHARE = 0.05
"""Two stories are near-duplicates where they share more than this part of the shorter one's grams."""

_WORD = re.compile(r"[\w']+")


def near_duplicates(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of indices of near-duplicate texts, sorted. Two texts are near-duplicates if they share more than 5 %
    (`SHARE`) of the distinct word 8-grams of the text that has fewer.

    Texts with equal sets of n-grams are compared with the others only once, so that the comparison is also fast for a
    model that always writes the same text.
    """
    alike: dict[frozenset[int], list[int]] = defaultdict(list)
    for index, text in enumerate(texts):
        if grams := _grams(text):
            alike[grams].append(index)
    pairs = [pair for places in alike.values() for pair in combinations(places, 2)]
    sets = list(alike)
    for first, other in _sharing(sets):
        pairs += [(min(a, b), max(a, b)) for a in alike[sets[first]] for b in alike[sets[other]]]
    return sorted(pairs)


def _sharing(sets: Sequence[frozenset[int]]) -> Iterator[tuple[int, int]]:
    holders: dict[int, list[int]] = defaultdict(list)
    for index, grams in enumerate(sets):
        shared: Counter[int] = Counter()
        for gram in grams:
            shared.update(holders[gram])
            holders[gram].append(index)
        for earlier, count in shared.items():
            if count > SHARE * min(len(grams), len(sets[earlier])):
                yield earlier, index


def _grams(text: str) -> frozenset[int]:
    words = _WORD.findall(text.lower())
    return frozenset(hash(tuple(words[at : at + LENGTH])) for at in range(len(words) - LENGTH + 1))
