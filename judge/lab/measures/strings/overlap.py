"""BLEU and TER by the package sacrebleu, and BLEU as OpenMEVA computed it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from judge.base.errors import MissingExtraError
from judge.lab.measures.measure import Family, Item, Measure, Scored, Tools


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
    return tuple(Counter(zip(*(tokens[i:] for i in range(order)), strict=False)) for order in (1, 2, 3, 4))


# In place of no match at an order: the logarithm of 0 is undefined.
_TENTH = 0.1
_WORD_OR_MARKS = re.compile(r"\w+|[^\w\s]+")
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
FAMILIES = (BLEU, TER, BLEU_OPENMEVA)
