"""Acceptance rules for paraphrases: similar in meaning, different in wording.

The study asks for MoverScore > .4 and BLEU-1 < .6 (Guan et al. 2021, Table 12). Here nearness is the cosine of sentence
vectors where an encoder is named, else the share of the sentence's longer words whose beginning stands in the other.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from judge.perturbations.english.sentences import sentences
from judge.perturbations.english.tokens import protected, words

MOST_BLEU = 0.6
LEAST_COSINE = 0.8
LEAST_OVERLAP = 0.3
FEWEST_WORDS = 5
_LONG, _STEM = 4, 4
_SHORTER, _LONGER = 0.5, 2.0


def bleu_1(sentence: str, other: str) -> float:
    """BLEU-1: clipped precision of the words of `other` against the sentence, with the brevity penalty."""
    reference, candidate = _words(sentence), _words(other)
    if not candidate:
        return 0.0
    counts = Counter(reference)
    hits = sum(min(count, counts[word]) for word, count in Counter(candidate).items())
    return (
        hits
        / len(candidate)
        * (1.0 if len(candidate) >= len(reference) else math.exp(1 - len(reference) / len(candidate)))
    )


def overlap(sentence: str, other: str) -> float:
    """Share of the sentence's words of four letters or more that begin like some word of the other sentence; 1 where it
    has no such word.
    """
    long = {word[:_STEM] for word in _words(sentence) if len(word) >= _LONG}
    return len(long & {word[:_STEM] for word in _words(other)}) / len(long) if long else 1.0


def complaint(sentence: str, other: str) -> str | None:
    """Reason for refusing a paraphrase whatever its meaning; None where it is not refused."""
    if len(sentences(other)) != 1 or "\n" in other:
        return "not one sentence"
    if Counter(_placeholders(sentence)) != Counter(_placeholders(other)):
        return "other placeholders"
    if not _SHORTER <= len(_words(other)) / max(1, len(_words(sentence))) <= _LONGER:
        return "of another length"
    return None if bleu_1(sentence, other) < MOST_BLEU else "too many of the same words"


def nearness(pairs: Sequence[tuple[str, str]], encoder: str | None) -> list[bool]:
    """Whether the meanings of each pair are similar enough."""
    if not pairs:
        return []
    if encoder is None:
        return [overlap(sentence, other) >= LEAST_OVERLAP for sentence, other in pairs]
    from judge.embedding.vectors import embed

    texts = [text for pair in pairs for text in pair]
    vectors = embed(texts, encoder, None).vectors
    return [bool(a @ b >= LEAST_COSINE) for a, b in zip(vectors[::2], vectors[1::2], strict=True)]


def _words(text: str) -> list[str]:
    return [text[start:end].lower() for start, end in words(text)]


def _placeholders(text: str) -> list[str]:
    return [text[start:end] for start, end in protected(text)]
