"""ROUGE-L equal to the package rouge 1.0.1: sentences end at ".", and hits are distinct words.

The package counts each distinct word of the union of longest common subsequences once, and takes, of several longest
ones, the one that its way back through the table meets. So do we; rows of the table are numbers of as many bits as the
sentence has words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

_SMALL = 1e-8
"""What the package adds to the denominator of F."""


@lru_cache(maxsize=4096)
def sentences(text: str) -> tuple[tuple[str, ...], ...]:
    """Words of the sentences; a part of blanks alone has one empty word, as with the package."""
    return tuple(tuple(" ".join(part.split()).split(" ")) for part in text.split(".") if part)


def f_score(text: str, reference: str) -> float:
    """F of ROUGE-L; 0 where one of the two holds nothing but full stops."""
    own, other = sentences(text), sentences(reference)
    if not own or not other:
        return 0.0
    union: set[str] = set()
    candidates = [(sentence, *_places(sentence)) for sentence in dict.fromkeys(own)]
    for sentence in dict.fromkeys(other):
        tokens = set(sentence)
        for candidate, masks, full in candidates:
            shared = tokens & masks.keys()
            # What is in the union already adds nothing, wherever the way back leads.
            if not shared <= union:
                union |= shared if len(shared) == 1 else _subsequence(sentence, candidate, masks, full)
    recall = len(union) / len({word for sentence in other for word in sentence})
    precision = len(union) / len({word for sentence in own for word in sentence})
    return 2 * precision * recall / (precision + recall + _SMALL)


def _places(sentence: Sequence[str]) -> tuple[dict[str, int], int]:
    """Positions of each word, as bits, and the bits of all positions."""
    masks: dict[str, int] = {}
    for position, word in enumerate(sentence):
        masks[word] = masks.get(word, 0) | 1 << position
    return masks, (1 << len(sentence)) - 1


def _subsequence(x: Sequence[str], y: Sequence[str], masks: Mapping[str, int], full: int) -> set[str]:
    """The words of the longest common subsequence that the package finds."""
    # Zeros among the first j bits of a row: the length for so many words of both.
    row = full
    rows = [row]
    for word in x:
        here = row & masks.get(word, 0)
        if here:
            row = (row + here | row - here) & full
        rows.append(row)
    shared: set[str] = set()
    i, j = len(x), len(y)
    while i and j:
        if x[i - 1] == y[j - 1]:
            shared.add(x[i - 1])
            i, j = i - 1, j - 1
        elif _length(rows[i - 1], j) > _length(rows[i], j - 1):
            i -= 1
        else:
            j -= 1
    return shared


def _length(row: int, words: int) -> int:
    return words - (row & ((1 << words) - 1)).bit_count()
