"""Lexical diversity and readability of a text.

Words are the `text_features.tokens` that begin with a letter or digit, in lower case. A measure that needs more words
than a text has is undefined; no value is substituted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from judge.inputs import text_features
from judge.lab.measures.measure import Family, Item, Measure, Scored, Tools, Undefined, Value

# The constants of McCarthy and Jarvis, with which published values are computed.
MTLD_FACTOR, DRAWN = 0.72, 42
WINDOWS = (25, 50)
_SHORT = "the text has fewer than {} words"


def words(text: str) -> list[str]:
    """The words of a text, in lower case: its tokens that begin with a letter or digit."""
    return [token for token in (t.lower() for t in text_features.tokens(text)) if token[0].isalnum()]


def distinct(tokens: Sequence[str], order: int) -> Value:
    """Share of distinct n-grams among all n-grams of `order` words (Li et al. 2016); undefined for a text with fewer
    words.
    """
    grams = [*zip(*(tokens[i:] for i in range(order)), strict=False)]
    return len(set(grams)) / len(grams) if grams else Undefined(_SHORT.format(order))


def mattr(tokens: Sequence[str], window: int) -> Value:
    """Moving-average type-token ratio: mean share of distinct words over all windows of `window` words (Covington and
    McFall 2010).
    """
    if len(tokens) < window:
        return Undefined(_SHORT.format(window))
    counts = Counter(tokens[:window])
    total = len(counts)
    for old, new in zip(tokens, tokens[window:], strict=False):
        counts[old] -= 1
        if not counts[old]:
            del counts[old]
        counts[new] += 1
        total += len(counts)
    return total / window / (len(tokens) - window + 1)


def mtld(tokens: Sequence[str]) -> Value:
    """MTLD: mean length of runs of words whose share of distinct words stays above .72, averaged over both reading
    directions (McCarthy and Jarvis 2010).
    """
    if not tokens:
        return Undefined(_SHORT.format(1))
    ways = [_factors(tokens), _factors(tokens[::-1])]
    return sum(len(tokens) / factors for factors in ways) / 2


def _factors(tokens: Sequence[str]) -> float:
    factors, size, share = 0.0, 0, 1.0
    types: set[str] = set()
    for word in tokens:
        size += 1
        types.add(word)
        share = len(types) / size
        if share <= MTLD_FACTOR:
            factors, size = factors + 1, 0
            types = set()
    if size:
        factors += (1 - share) / (1 - MTLD_FACTOR)
    # A text without a repeated word is one run.
    return factors or 1.0


def hd_d(tokens: Sequence[str]) -> Value:
    """HD-D: expected share of distinct words in random samples of 42 words (McCarthy and Jarvis 2007)."""
    total = len(tokens)
    if total < DRAWN:
        return Undefined(_SHORT.format(DRAWN))
    drawn: dict[int, float] = {}
    for count in set(Counter(tokens).values()):
        none = 0.0 if total - count < DRAWN else math.exp(_choose(total - count) - _choose(total))
        drawn[count] = (1 - none) / DRAWN
    return math.fsum(drawn[count] for count in Counter(tokens).values())


def _choose(size: int) -> float:
    """Logarithm of the number of ordered samples of 42 words from `size` words."""
    return math.lgamma(size + 1) - math.lgamma(size - DRAWN + 1)


def yule_k(tokens: Sequence[str]) -> Value:
    """Yule's K: 10,000 (S - N) / N^2, for N words in total and S the sum of the squared counts of the distinct words.
    This is about 10,000 times the probability that two words drawn at random are the same word.
    """
    if not tokens:
        return Undefined(_SHORT.format(1))
    return 1e4 * (sum(count**2 for count in Counter(tokens).values()) - len(tokens)) / len(tokens) ** 2


def ari(text: str) -> Value:
    """Automated readability index, from letters per word and words per sentence (Senter and Smith 1967)."""
    return _readability(
        text, lambda letters, count, sentences: 4.71 * letters / count + 0.5 * count / sentences - 21.43
    )


def coleman_liau(text: str) -> Value:
    """Coleman-Liau index (1975), from letters and sentences per 100 words."""
    return _readability(
        text, lambda letters, count, sentences: 5.88 * letters / count - 29.6 * sentences / count - 15.8
    )


def _readability(text: str, formula: Callable[[int, int, int], float]) -> Value:
    tokens = words(text)
    if not tokens:
        return Undefined(_SHORT.format(1))
    letters = sum(character.isalnum() for word in tokens for character in word)
    return formula(letters, len(tokens), max(1, len(text_features.sentences(text))))


def _diversity(items: Sequence[Item], _: Tools) -> list[Scored]:
    return [Scored(_values(item.text)) for item in items]


def _values(text: str) -> Mapping[str, Value]:
    tokens = words(text)
    values = {f"distinct-{order}": distinct(tokens, order) for order in (1, 2, 3)}
    values |= {f"mattr-{window}": mattr(tokens, window) for window in WINDOWS}
    return values | {
        "mtld": mtld(tokens),
        "hd-d": hd_d(tokens),
        "yule-k": yule_k(tokens),
        "ari": ari(text),
        "coleman-liau": coleman_liau(text),
    }


_DIVERSITY = (
    *(
        Measure(f"distinct-{order}", f"distinct-{order}", 1, f"share of distinct {order}-grams of words, lower case")
        for order in (1, 2, 3)
    ),
    *(
        Measure(f"mattr-{size}", f"mattr-{size}", 1, f"mean share of distinct words in windows of {size} words")
        for size in WINDOWS
    ),
    Measure("mtld", "mtld", 1, "mean length of runs of words whose share of distinct words stays above .72, both ways"),
    Measure("hd-d", "hd-d", 1, "mean share of distinct words in samples of 42 words, without sampling"),
    Measure("yule-k", "yule-k", -1, "Yule's K of the words, lower case"),
    Measure("ari", "ari", 0, "4.71 letters a word + .5 words a sentence - 21.43"),
    Measure("coleman-liau", "coleman-liau", 0, "5.88 letters a word - 29.6 sentences a word - 15.8"),
)
FAMILIES = (
    Family(
        name="diversity",
        source="Li et al. 2016; Covington and McFall 2010; McCarthy and Jarvis 2007, 2010; own",
        score=_diversity,
        measures=_DIVERSITY,
    ),
)
