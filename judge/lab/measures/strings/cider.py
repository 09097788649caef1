"""CIDEr-D (Vedantam et al. 2015), for image captions: n-grams weighted by how few references contain them. Its penalty
for a difference in length makes the value 0 for most stories, so every report must give the share of zeros."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from judge.lab.measures.measure import Family, Item, Measure, Scored, Tools

_ORDERS = (1, 2, 3, 4)
# CIDEr-D's published constants (Vedantam et al. 2015): the width of the penalty for lengths, and the scale to 10.
_SIGMA, _FACTOR = 6.0, 10.0
_TOKEN = re.compile(r"\w+")
Gram = tuple[str, ...]


class _Weighed(NamedTuple):
    """n-gram weights of a text by order, their norms, and the number of bigrams."""

    weights: tuple[Mapping[Gram, float], ...]
    norms: tuple[float, ...]
    length: int


def scores(pairs: Sequence[tuple[str, str]], references: Sequence[str]) -> list[float]:
    """CIDEr-D of each (text, reference); document frequencies are over the distinct `references`."""
    distinct = list(dict.fromkeys(references))
    counted = cache(_grams)
    holding: Counter[Gram] = Counter()
    for reference in distinct:
        for grams in counted(reference):
            holding.update(grams.keys())
    largest = math.log(len(distinct)) if distinct else 0.0

    @cache
    def weighed(text: str) -> _Weighed:
        weights = tuple(
            {gram: count * (largest - math.log(max(1, holding[gram]))) for gram, count in grams.items()}
            for grams in counted(text)
        )
        norms = tuple(math.sqrt(sum(weight**2 for weight in vector.values())) for vector in weights)
        return _Weighed(weights, norms, sum(counted(text)[1].values()))

    return [_score(weighed(text), weighed(reference)) for text, reference in pairs]


def _grams(text: str) -> tuple[Counter[Gram], ...]:
    words = _TOKEN.findall(text)
    return tuple(Counter(zip(*(words[i:] for i in range(order)), strict=False)) for order in _ORDERS)


def _score(text: _Weighed, reference: _Weighed) -> float:
    penalty = math.exp(-((text.length - reference.length) ** 2) / (2 * _SIGMA**2))
    total = 0.0
    for own, other, *norms in zip(text.weights, reference.weights, text.norms, reference.norms, strict=True):
        shared = sum(min(own[gram], other[gram]) * other[gram] for gram in own.keys() & other.keys())
        norm = math.prod(norms)
        total += (shared / norm if norm else shared) * penalty
    return _FACTOR * total / len(_ORDERS)


def _cider(items: Sequence[Item], tools: Tools) -> list[Scored]:
    values = scores([(item.text, item.reference) for item in items], tools.references)
    return [Scored({"cider": value}) for value in values]


_RECIPE = "CIDEr-D: orders 1-4, sigma 6, x10, runs of word characters, case kept, weights over the dataset's references"
FAMILIES = (
    Family(
        name="cider-d",
        source="Vedantam et al. 2015; own, equal to pycocoevalcap 1.2",
        needs=("reference", "corpus"),
        score=_cider,
        whole=True,
        measures=(
            Measure("cider-d", "cider", 1, _RECIPE),
            Measure("cider-hanna", "cider", 1, f"{_RECIPE}; HANNA's released column", as_published=True),
        ),
    ),
)
