"""METEOR and CIDEr-D: matches of stems and synonyms, and of weighted n-grams."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from judge.base.errors import MissingExtraError, SpecError
from judge.base.late_pattern import late
from judge.inputs.wordnet import HINT, WordNet
from judge.lab.measures import Family, Item, Measure, Scored, Tools, ngrams

# CIDEr-D (Vedantam et al. 2015), for image captions: n-grams weighted by how few references contain them. Its penalty
# for a difference in length makes the value 0 for most stories, so every report must give the share of zeros.

_ORDERS = (1, 2, 3, 4)
# CIDEr-D's published constants (Vedantam et al. 2015): the width of the penalty for lengths, and the scale to 10.
_SIGMA, _FACTOR = 6.0, 10.0
_TOKEN = late(r"\w+")
Gram = tuple[str, ...]


class _Weighed(NamedTuple):
    """n-gram weights of a text by order, their norms, and the number of bigrams."""

    weights: tuple[Mapping[Gram, float], ...]
    norms: tuple[float, ...]
    length: int


def cider_scores(pairs: Sequence[tuple[str, str]], references: Sequence[str]) -> list[float]:
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

    return [_cider_score(weighed(text), weighed(reference)) for text, reference in pairs]


def _grams(text: str) -> tuple[Counter[Gram], ...]:
    words = _TOKEN.findall(text)
    return tuple(ngrams(words, order) for order in _ORDERS)


def _cider_score(text: _Weighed, reference: _Weighed) -> float:
    penalty = math.exp(-((text.length - reference.length) ** 2) / (2 * _SIGMA**2))
    total = 0.0
    for own, other, *norms in zip(text.weights, reference.weights, text.norms, reference.norms, strict=True):
        shared = sum(min(own[gram], other[gram]) * other[gram] for gram in own.keys() & other.keys())
        norm = math.prod(norms)
        total += (shared / norm if norm else shared) * penalty
    return _FACTOR * total / len(_ORDERS)


def _cider(items: Sequence[Item], tools: Tools) -> list[Scored]:
    values = cider_scores([(item.text, item.reference) for item in items], tools.references)
    return [Scored({"cider": value}) for value in values]


_CIDER_RECIPE = (
    "CIDEr-D: orders 1-4, sigma 6, x10, runs of word characters, case kept, weights over the dataset's references"
)
CIDER_FAMILIES = (
    Family(
        name="cider-d",
        source="Vedantam et al. 2015; own, equal to pycocoevalcap 1.2",
        needs=("reference", "corpus"),
        score=_cider,
        whole=True,
        measures=(
            Measure("cider-d", "cider", 1, _CIDER_RECIPE),
            Measure("cider-hanna", "cider", 1, f"{_CIDER_RECIPE}; HANNA's released column", as_published=True),
        ),
    ),
)


# Stems of words by two versions of Porter's algorithm. Stems are cached.


@lru_cache(maxsize=1 << 17)
def porter(word: str) -> str:
    """Stem by the original algorithm of Porter (1980), as ROUGE-1.5.5 uses it."""
    return str(_stemmer("ORIGINAL_ALGORITHM").stem(word))


@lru_cache(maxsize=1 << 17)
def nltk_stem(word: str) -> str:
    """Stem by Porter's algorithm with NLTK's extensions, as NLTK's METEOR uses it."""
    return str(_stemmer("NLTK_EXTENSIONS").stem(word))


@cache
def _stemmer(mode: str) -> Any:
    try:
        from nltk.stem.porter import PorterStemmer
    except ImportError as error:
        raise MissingExtraError("ROUGE and METEOR, whose words are stemmed,", "measures") from error
    return PorterStemmer(mode)


_ALPHA, _BETA, _GAMMA = 0.9, 3.0, 0.5
# METEOR as in NLTK: matches of exact words, stems and WordNet synonyms, with a penalty for fragmentation. NLTK 3.5,
# which OpenMEVA used, did not remove words matched by their stem before it searched for synonyms, so that a word
# could match twice. Later versions corrected this; `meteor-openmeva` reproduces version 3.5.

# Places with their words.
Words = list[tuple[int, str]]

Matches = list[tuple[int, int]]


def meteor_scores(text: str, reference: str, wordnet: WordNet) -> tuple[float, float]:
    """METEOR of a text and its reference, 0 to 1: (value of current NLTK, value of NLTK 3.5)."""
    own: Words = list(enumerate(text.lower().split()))
    other: Words = list(enumerate(reference.lower().split()))
    sizes = len(own), len(other)
    exact, own, other = _matched(own, other, _itself)
    stems, own_left, other_left = _matched(_stemmed(own), _stemmed(other), _itself)
    # Today NLTK looks up the stems of what is left; 3.5 the words, those whose stems matched among them.
    today = _matched(own_left, other_left, wordnet.synonyms)[0]
    before = _matched(own, other, wordnet.synonyms_before_3_6)[0]
    return _score([*exact, *stems, *today], *sizes), _score([*exact, *stems, *before], *sizes)


def _itself(word: str) -> tuple[str]:
    return (word,)


def _score(matches: Matches, size: int, reference: int) -> float:
    if not matches:
        return 0.0
    precision, recall = len(matches) / size, len(matches) / reference
    mean: float = precision * recall / (_ALPHA * precision + (1 - _ALPHA) * recall)
    # By the text's place alone: of two matches of one word the one by its stem stays first.
    torn: float = _chunks(sorted(matches, key=lambda pair: pair[0])) / len(matches)
    return float((1 - _GAMMA * torn**_BETA) * mean)


def _stemmed(words: Words) -> Words:
    return [(position, nltk_stem(word)) for position, word in words]


def _matched(own: Words, other: Words, same: Callable[[str], Iterable[str]]) -> tuple[Matches, Words, Words]:
    """(Matched positions, unmatched words of `own` and `other`); from the last word, with the last free equal one."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for at, (_, word) in enumerate(other):
        places[word].append(at)
    matches: Matches = []
    own_taken, other_taken = set(), set()
    for at in range(len(own) - 1, -1, -1):
        position, word = own[at]
        free = [(places[candidate][-1], candidate) for candidate in same(word) if places.get(candidate)]
        if free:
            last, candidate = max(free)
            places[candidate].pop()
            own_taken.add(at)
            other_taken.add(last)
            matches.append((position, other[last][0]))
    return (
        matches,
        [pair for at, pair in enumerate(own) if at not in own_taken],
        [pair for at, pair in enumerate(other) if at not in other_taken],
    )


def _chunks(matches: Sequence[tuple[int, int]]) -> int:
    """Number of runs of matches that are adjacent in both texts."""
    return 1 + sum((after[0], after[1]) != (before[0] + 1, before[1] + 1) for before, after in pairwise(matches))


_opened = lru_cache(maxsize=1)(WordNet)


def _meteor(items: Sequence[Item], tools: Tools) -> list[Scored]:
    if tools.wordnet is None:
        raise SpecError("METEOR needs WordNet 3.0, which is not on this machine", hint=HINT)
    words = _opened(tools.wordnet)
    pairs = [meteor_scores(item.text, item.reference, words) for item in items]
    return [Scored({"meteor": today, "twice": before}) for today, before in pairs]


_RECIPE = "as NLTK's meteor_score: lower case, split at blanks, WordNet 3.0, alpha .9, beta 3, gamma .5, 0-1"
METEOR_FAMILIES = (
    Family(
        name="meteor",
        source="Lavie and Agarwal 2007; own, equal to NLTK 3.10",
        needs=("reference", "wordnet"),
        distributions=("nltk",),
        score=_meteor,
        measures=(
            Measure("meteor", "meteor", 1, _RECIPE),
            Measure(
                "meteor-openmeva",
                "twice",
                1,
                f"{_RECIPE}, with NLTK 3.5's mistake: a word that matched by its stem may match again by a synonym",
                as_published=True,
            ),
        ),
    ),
)

FAMILIES = (*METEOR_FAMILIES, *CIDER_FAMILIES)
