"""ROUGE-L equal to that of the package rouge 1.0.1: sentences end at ".", and a word that matches several times counts
as one hit.

The package counts each distinct word in the union of longest common subsequences once. Where several subsequences are
longest, it uses the one that its backtracking finds; this module finds the same one. Rows of the dynamic-programming
table are integers with one bit for each word of the sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

_SMALL = 1e-8
"""What the package adds to the denominator of F."""


@lru_cache(maxsize=4096)
def sentences(text: str) -> tuple[tuple[str, ...], ...]:
    """Words of each sentence. A sentence that holds only whitespace has one empty word, as in the package."""
    return tuple(tuple(" ".join(part.split()).split(" ")) for part in text.split(".") if part)


def f_score(text: str, reference: str) -> float:
    """F score of ROUGE-L; 0 where the text or the reference holds only full stops."""
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
    """(Word -> bit mask of its positions in the sentence, bit mask of all positions)."""
    masks: dict[str, int] = {}
    for position, word in enumerate(sentence):
        masks[word] = masks.get(word, 0) | 1 << position
    return masks, (1 << len(sentence)) - 1


def _subsequence(x: Sequence[str], y: Sequence[str], masks: Mapping[str, int], full: int) -> set[str]:
    """The distinct words of the longest common subsequence of `x` and `y`; where several are longest, of the one that
    the package rouge finds. `masks` and `full` are the bit masks of `y` from `_places`.
    """
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
