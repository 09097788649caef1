"""METEOR as in NLTK: matches of exact words, stems and WordNet synonyms, with a penalty for fragmentation. NLTK 3.5,
which OpenMEVA used, did not remove words matched by their stem before it searched for synonyms, so that a word could
match twice. Later versions corrected this; `meteor-openmeva` reproduces version 3.5."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from judge.base.errors import SpecError
from judge.inputs.wordnet import HINT, WordNet
from judge.lab.measures.measure import Family, Item, Measure, Scored, Tools
from judge.lab.measures.strings.stems import nltk_stem

_ALPHA, _BETA, _GAMMA = 0.9, 3.0, 0.5
# Places with their words.
Words = list[tuple[int, str]]

Matches = list[tuple[int, int]]


def scores(text: str, reference: str, wordnet: WordNet) -> tuple[float, float]:
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


@lru_cache(maxsize=1)
def _opened(folder: Path) -> WordNet:
    return WordNet(folder)


def _meteor(items: Sequence[Item], tools: Tools) -> list[Scored]:
    if tools.wordnet is None:
        raise SpecError("METEOR needs WordNet 3.0, which is not on this machine", hint=HINT)
    words = _opened(tools.wordnet)
    pairs = [scores(item.text, item.reference, words) for item in items]
    return [Scored({"meteor": today, "twice": before}) for today, before in pairs]


_RECIPE = "as NLTK's meteor_score: lower case, split at blanks, WordNet 3.0, alpha .9, beta 3, gamma .5, 0-1"
FAMILIES = (
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
