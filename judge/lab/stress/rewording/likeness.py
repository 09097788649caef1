"""Acceptance rules for paraphrases: similar in meaning, different in wording.

The OpenMEVA study requires MoverScore > .4 and BLEU-1 < .6 (Guan et al. 2021, Table 12). In this module, similarity in
meaning is the cosine of sentence vectors if the user names an encoder. Otherwise it is the share of the sentence's
longer words whose first four letters begin a word of the paraphrase.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from judge.inputs.perturbations.english.sentences import sentences
from judge.inputs.perturbations.english.tokens import protected, words

MOST_BLEU = 0.6
LEAST_COSINE = 0.8
LEAST_OVERLAP = 0.3
FEWEST_WORDS = 5
_LONG, _STEM = 4, 4
_SHORTER, _LONGER = 0.5, 2.0


def bleu_1(sentence: str, other: str) -> float:
    """BLEU-1 of the text `other` with `sentence` as reference: clipped precision of words, with brevity penalty."""
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
    """Share of the words of `sentence` with four letters or more whose first four letters also begin a word of `other`;
    1 where `sentence` has no such word.
    """
    long = {word[:_STEM] for word in _words(sentence) if len(word) >= _LONG}
    return len(long & {word[:_STEM] for word in _words(other)}) / len(long) if long else 1.0


def complaint(sentence: str, other: str) -> str | None:
    """Reason for refusing `other` as a paraphrase of `sentence` because of its form and wording, regardless of meaning;
    None where it is accepted.
    """
    if len(sentences(other)) != 1 or "\n" in other:
        return "not one sentence"
    if Counter(_placeholders(sentence)) != Counter(_placeholders(other)):
        return "other placeholders"
    if not _SHORTER <= len(_words(other)) / max(1, len(_words(sentence))) <= _LONGER:
        return "of another length"
    return None if bleu_1(sentence, other) < MOST_BLEU else "too many of the same words"


def nearness(pairs: Sequence[tuple[str, str]], encoder: str | None) -> list[bool]:
    """For each pair of sentences, whether the two are similar enough in meaning. `encoder` is the sentence encoder that
    compares them; None = compare their words.
    """
    if not pairs:
        return []
    if encoder is None:
        return [overlap(sentence, other) >= LEAST_OVERLAP for sentence, other in pairs]
    from judge.inputs.embedding.vectors import embed

    texts = [text for pair in pairs for text in pair]
    vectors = embed(texts, encoder, None).vectors
    return [bool(a @ b >= LEAST_COSINE) for a, b in zip(vectors[::2], vectors[1::2], strict=True)]


def _words(text: str) -> list[str]:
    return [text[start:end].lower() for start, end in words(text)]


def _placeholders(text: str) -> list[str]:
    return [text[start:end] for start, end in protected(text)]
