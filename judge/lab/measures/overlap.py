"""BLEU, TER and chrF: overlap of n-grams of words or of characters."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judge.base.errors import MissingExtraError
from judge.base.late_pattern import late
from judge.lab.measures import Family, Item, Measure, Scored, Tools, ngrams

# chrF (Popović 2015) as in sacrebleu, and as HANNA computed it with the author's script. Character n-grams are hashed
# to 64-bit numbers. The probability that two different ones of a pair of stories have the same number is below 10^-11.

ORDER = 6
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class _Grams(NamedTuple):
    """Distinct character n-grams of one order, as ascending codes, their counts and the total."""

    codes: NDArray[np.uint64]
    counts: NDArray[np.int64]
    total: int


def chrf_scores(pairs: Sequence[tuple[str, str]], *, beta: float, whitespace: bool) -> list[float]:
    """chrF of each (text, reference), 0 to 100: F of precision and recall averaged over n-gram orders. `beta` is the
    weight of recall. With `whitespace`, n-grams may contain it; otherwise it is removed."""
    counted = lru_cache(maxsize=4096)(lambda text: _grams(text if whitespace else "".join(text.split())))
    return [_score(counted(text), counted(reference), beta) for text, reference in pairs]


def _grams(text: str) -> list[_Grams]:
    letters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    codes, grams = letters, []
    for order in range(1, ORDER + 1):
        if order > 1:
            codes = codes[:-1] * _FACTOR + letters[order - 1 :]
        grams.append(_Grams(*np.unique(codes, return_counts=True), codes.size))
    return grams


def _score(text: Sequence[_Grams], reference: Sequence[_Grams], beta: float) -> float:
    precision = recall = 0.0
    orders = 0
    for own, other in zip(text, reference, strict=True):
        if own.total and other.total:
            shared = _shared(own, other)
            precision += shared / own.total
            recall += shared / other.total
            orders += 1
    if not precision or not recall:
        return 0.0
    precision, recall, factor = precision / orders, recall / orders, beta**2
    return 100 * (1 + factor) * precision * recall / (factor * precision + recall)


def _shared(own: _Grams, other: _Grams) -> int:
    at = np.searchsorted(other.codes, own.codes)
    at[at == other.codes.size] = 0
    same = other.codes[at] == own.codes
    return int(np.minimum(own.counts[same], other.counts[at[same]]).sum())


def _chrf(items: Sequence[Item], _: Tools) -> list[Scored]:
    plain = chrf_scores([(item.text, item.reference) for item in items], beta=2, whitespace=False)
    lines = [(f"{item.text}\n", f"{item.reference}\n") for item in items]
    published = chrf_scores(lines, beta=3, whitespace=True)
    return [Scored({"chrf": score, "hanna": other}) for score, other in zip(plain, published, strict=True)]


CHRF_FAMILIES = (
    Family(
        name="chrf",
        source="Popović 2015; own, equal to sacrebleu 2.6 and chrF.py",
        needs=("reference",),
        score=_chrf,
        measures=(
            Measure("chrf", "chrf", 1, "chrF2: characters 1-6, beta 2, no white space, 0-100"),
            Measure(
                "chrf-hanna",
                "hanna",
                1,
                "chrF3: characters 1-6, beta 3, white space kept, a newline behind both texts, 0-100",
                as_published=True,
            ),
        ),
    ),
)


# BLEU and TER by the package sacrebleu, and BLEU as OpenMEVA computed it.


def _sacrebleu() -> Any:
    try:
        from sacrebleu import metrics
    except ImportError as error:
        raise MissingExtraError("BLEU and TER", "measures") from error
    return metrics


def _each(items: Sequence[Item], **scores: Callable[[str, str], float]) -> list[Scored]:
    return [
        Scored({key.replace("_", "-"): float(score(item.text, item.reference)) for key, score in scores.items()})
        for item in items
    ]


def _bleu(items: Sequence[Item], _: Tools) -> list[Scored]:
    metric = _sacrebleu().BLEU(effective_order=True)
    return _each(items, bleu=lambda text, reference: metric.sentence_score(text, [reference]).score)


def _ter(items: Sequence[Item], _: Tools) -> list[Scored]:
    metric = _sacrebleu().TER()
    return _each(items, ter=lambda text, reference: metric.sentence_score(text, [reference]).score)


def _bleu_openmeva(items: Sequence[Item], _: Tools) -> list[Scored]:
    return _each(items, bleu=smoothed_bleu)


def smoothed_bleu(text: str, reference: str) -> float:
    """NLTK's sentence_bleu with smoothing method1: an n-gram order without a match counts as 0.1 matches. 0 where the
    texts share no word."""
    own, other = counted(text), counted(reference)
    words, reference_words = own[0].total(), other[0].total()
    # Without a common word NLTK gives 0, whatever the smoothing.
    if not own[0].keys() & other[0].keys():
        return 0.0
    total = []
    for mine, theirs in zip(own, other, strict=True):
        hits = sum(min(count, theirs[gram]) for gram, count in mine.items() if gram in theirs)
        total.append(math.log((hits or _TENTH) / max(1, mine.total())) / len(own))
    brevity = 1.0 if words > reference_words else math.exp(1 - reference_words / words)
    return brevity * math.exp(math.fsum(total))


@lru_cache(maxsize=4096)
def counted(text: str) -> tuple[Counter[tuple[str, ...]], ...]:
    """n-gram counts of the orders 1 to 4, over tokens of NLTK's WordPunctTokenizer."""
    tokens = _WORD_OR_MARKS.findall(text)
    return tuple(ngrams(tokens, order) for order in (1, 2, 3, 4))


# In place of no match at an order: the logarithm of 0 is undefined.
_TENTH = 0.1
_WORD_OR_MARKS = late(r"\w+|[^\w\s]+")
_SACREBLEU = "Post 2018 (sacrebleu)"
BLEU = Family(
    name="bleu",
    source="Papineni et al. 2002; " + _SACREBLEU,
    needs=("reference",),
    distributions=("sacrebleu",),
    score=_bleu,
    measures=(
        Measure("bleu", "bleu", 1, "sacrebleu's sentence BLEU: tokenizer 13a, smoothing exp, case kept, 0-100"),
        Measure(
            "bleu-hanna",
            "bleu",
            1,
            "the same; HANNA's released column, Human stories against themselves included",
            as_published=True,
        ),
    ),
)
TER = Family(
    name="ter",
    source="Snover et al. 2006; " + _SACREBLEU,
    needs=("reference",),
    distributions=("sacrebleu",),
    score=_ter,
    measures=(
        Measure(
            "ter",
            "ter",
            -1,
            "sacrebleu's TER: edits and shifts per 100 words of the reference; takes seconds a story of 500 words",
        ),
    ),
)
BLEU_OPENMEVA = Family(
    name="bleu-openmeva",
    source="Papineni et al. 2002; own, equal to NLTK 3.10 as OpenMEVA ran it",
    needs=("reference",),
    score=_bleu_openmeva,
    measures=(
        Measure(
            "bleu-openmeva",
            "bleu",
            1,
            "NLTK's sentence_bleu: WordPunctTokenizer, smoothing method1, orders 1-4, case kept, 0-1",
            as_published=True,
        ),
    ),
)
BLEU_TER_FAMILIES = (BLEU, TER, BLEU_OPENMEVA)

FAMILIES = (*BLEU_TER_FAMILIES, *CHRF_FAMILIES)
