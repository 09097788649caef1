"""chrF (Popović 2015) as in sacrebleu, and as HANNA computed it with the author's script. Character n-grams are hashed
to 64-bit numbers. The probability that two different ones of a pair of stories have the same number is below 10^-11."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from judge.lab.measures.measure import Family, Item, Measure, Scored, Tools

ORDER = 6
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class _Grams(NamedTuple):
    """Distinct character n-grams of one order, as ascending codes, their counts and the total."""

    codes: NDArray[np.uint64]
    counts: NDArray[np.int64]
    total: int


def scores(pairs: Sequence[tuple[str, str]], *, beta: float, whitespace: bool) -> list[float]:
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
    plain = scores([(item.text, item.reference) for item in items], beta=2, whitespace=False)
    lines = [(f"{item.text}\n", f"{item.reference}\n") for item in items]
    published = scores(lines, beta=3, whitespace=True)
    return [Scored({"chrf": score, "hanna": other}) for score, other in zip(plain, published, strict=True)]


FAMILIES = (
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
