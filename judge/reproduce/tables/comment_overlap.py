"""Overlap of texts with human comments: the mean of corpus BLEU-1 to BLEU-4, and ROUGE-L.

BLEU follows Papineni et al. 2002 with one reference per text. Where no n-gram matches, the precision is computed with
0.1 matches (method 1 of Chen & Cherry 2014). ROUGE-L is the F measure of the longest common subsequence (Lin 2004),
averaged over texts. Words are those of `text_features.tokens`, in lower case.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from judge.inputs.text_features import tokens

ORDERS = 4
# Method 1 of Chen & Cherry 2014: the logarithm of no match at an order is undefined.
_NO_MATCH = 0.1


def bleu(texts: Sequence[str], references: Sequence[str]) -> float:
    """Mean of corpus BLEU-1 to BLEU-4, between 0 and 1. `references` has one reference per text."""
    pairs = [(_words(text), _words(reference)) for text, reference in zip(texts, references, strict=True)]
    precisions = [_precision(pairs, order) for order in range(1, ORDERS + 1)]
    length, wanted = sum(len(text) for text, _ in pairs), sum(len(reference) for _, reference in pairs)
    brevity = 1.0 if length >= wanted else math.exp(1 - wanted / length)
    logs = [math.log(precision) for precision in precisions]
    return brevity * fmean(math.exp(fmean(logs[:order])) for order in range(1, ORDERS + 1))


def rouge_l(texts: Sequence[str], references: Sequence[str]) -> float:
    """Mean over texts of the F measure of the longest common subsequence with the reference, between 0 and 1."""
    scores = []
    for text, reference in zip(texts, references, strict=True):
        ours, theirs = _words(text), _words(reference)
        common = _longest_common(ours, theirs)
        scores.append(2 * common / (len(ours) + len(theirs)))
    return fmean(scores)


def _words(text: str) -> list[str]:
    return [word.lower() for word in tokens(text)]


def _precision(pairs: Sequence[tuple[list[str], list[str]]], order: int) -> float:
    """Clipped n-gram precision of one order over all pairs of text and reference."""
    matched = total = 0
    for text, reference in pairs:
        ours, theirs = _ngrams(text, order), _ngrams(reference, order)
        matched += (ours & theirs).total()
        total += ours.total()
    return (matched or _NO_MATCH) / max(total, 1)


def _ngrams(words: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[i : i + order]) for i in range(len(words) - order + 1))


def _longest_common(words: Sequence[str], other: Sequence[str]) -> int:
    lengths = [0] * (len(other) + 1)
    for word in words:
        before = 0
        for j, same in enumerate(other, start=1):
            before, lengths[j] = lengths[j], before + 1 if word == same else max(lengths[j], lengths[j - 1])
    return lengths[-1]
