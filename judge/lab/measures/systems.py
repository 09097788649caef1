"""Diversity of each system's stories: self-BLEU, distinct bigrams, and the spread of sentence vectors. There is one
number per system, so it is not correlated with ratings of single stories."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from judge.base.errors import SpecError
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table, plain
from judge.base.records import Story
from judge.inputs import text_features
from judge.inputs.embedding import embed
from judge.lab.measures import Family, Item, Measure, Scored, Tools, Undefined, Value, ngrams
from judge.lab.measures.overlap import counted
from judge.version import __version__

# Lexical diversity and readability of a text.

# The constants of McCarthy and Jarvis, with which published values are computed.
MTLD_FACTOR, DRAWN = 0.72, 42
WINDOWS = (25, 50)
_SHORT = "the text has fewer than {} words"


def words(text: str) -> list[str]:
    """A text's tokens that begin with a letter or digit, in lower case."""
    return [token for token in (t.lower() for t in text_features.tokens(text)) if token[0].isalnum()]


def distinct(tokens: Sequence[str], order: int) -> Value:
    """Share of distinct n-grams of `order` words (Li et al. 2016); undefined for a text with fewer words."""
    grams = ngrams(tokens, order)
    return len(grams) / grams.total() if grams else Undefined(_SHORT.format(order))


def mattr(tokens: Sequence[str], window: int) -> Value:
    """Moving-average type-token ratio: mean share of distinct words over all windows (Covington and McFall 2010)."""
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
    directions (McCarthy and Jarvis 2010)."""
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
    """Logarithm of the number of ordered samples of 42 words."""
    return math.lgamma(size + 1) - math.lgamma(size - DRAWN + 1)


def yule_k(tokens: Sequence[str]) -> Value:
    """Yule's K: 10,000 (S - N) / N^2, for N words and the sum S of squared counts of the distinct words. This is about
    10,000 times the probability that two words drawn at random are the same word."""
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


NO_MAUVE = (
    "MAUVE is not computed: its value depends on the clustering of its vectors, and its program is under GPL-3; "
    "values computed elsewhere can be reported beside these"
)
_NO_MODEL = "undefined: no sentence encoder was named"
_ONE = "undefined: the system has one story"
_TENTH = 0.1


@dataclass(frozen=True, slots=True)
class SystemRow:
    """Diversity measures of one system's stories. `self_bleu` is the mean of each with the others as references;
    `distinct` the share of distinct bigrams; `cosine` the mean between two stories, `prompt` that of a story with its
    story-prompt."""

    system: str
    stories: int
    self_bleu: Estimate
    distinct: Estimate
    cosine: Estimate
    vendi: Estimate
    prompt: Estimate


def rows(stories: Sequence[Story], model: str | None, cache: Path | None) -> list[SystemRow]:
    """One row for each system that has stories with a text, in the dataset's order. Without an embedding `model`,
    measures that need vectors are undefined; `cache` is their file. Raises SpecError where no story has a text."""
    by_system: dict[str, list[Story]] = {}
    for story in stories:
        if story.text.strip():
            by_system.setdefault(story.system, []).append(story)
    if not by_system:
        raise SpecError("no story has a text")
    return [_row(system, some, _vectors(some, model, cache)) for system, some in by_system.items()]


def _row(
    system: str, stories: Sequence[Story], vectors: tuple[NDArray[np.float64], NDArray[np.float64]] | None
) -> SystemRow:
    count = len(stories)
    alone = count < 2
    pooled = Counter(pair for story in stories for pair in pairwise(words(story.text)))
    distinct = Estimate(len(pooled) / pooled.total(), n=count) if pooled else Estimate.undefined("undefined: no words")
    if vectors is None:
        cosine = vendi = prompt = Estimate.undefined(_NO_MODEL)
    else:
        likeness = vectors[0] @ vectors[0].T
        between = likeness[~np.eye(count, dtype=np.bool_)]
        cosine = Estimate.undefined(_ONE) if alone else Estimate(float(between.mean()), n=count)
        vendi = Estimate(_vendi(likeness), n=count)
        prompt = Estimate(float((vectors[0] * vectors[1]).sum(axis=1).mean()), n=count)
    bleu = Estimate.undefined(_ONE) if alone else Estimate(self_bleu([story.text for story in stories]), n=count)
    return SystemRow(system, count, bleu, distinct, cosine, vendi, prompt)


def _vectors(
    stories: Sequence[Story], model: str | None, cache: Path | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Unit vectors of texts and of story-prompts; None without a model."""
    if model is None:
        return None
    sides = ([story.text for story in stories], [story.story_prompt for story in stories])
    texts, prompts = (embed(side, model, cache).vectors.astype(np.float64) for side in sides)
    return texts, prompts


def self_bleu(texts: Sequence[str]) -> float:
    """Mean BLEU-4 of each text with all others as references (Zhu et al. 2018), smoothed as in `bleu-openmeva`."""
    grams = [counted(text) for text in texts]
    lengths = np.array([orders[0].total() for orders in grams])
    most = [_two_most([orders[order] for orders in grams]) for order in range(4)]
    total = 0.0
    for at, orders in enumerate(grams):
        logs = []
        for order, counts in enumerate(orders):
            hits = sum(
                min(count, most[order][gram][1] if most[order][gram][2] == at else most[order][gram][0])
                for gram, count in counts.items()
            )
            logs.append(math.log((hits or _TENTH) / max(1, counts.total())) / 4)
        others = np.delete(lengths, at)
        # The reference nearest in length, the shorter of two.
        near = int(others[np.lexsort((others, np.abs(others - lengths[at])))[0]])
        own = int(lengths[at])
        total += (1.0 if own > near else math.exp(1 - near / own)) * math.exp(math.fsum(logs))
    return total / len(texts)


def _two_most(counts: Sequence[Mapping[tuple[str, ...], int]]) -> dict[tuple[str, ...], tuple[int, int, int]]:
    """n-gram -> (largest count in a text, largest in any other text, index of the first)."""
    most: dict[tuple[str, ...], tuple[int, int, int]] = {}
    for at, grams in enumerate(counts):
        for gram, count in grams.items():
            first, second, position = most.get(gram, (0, 0, -1))
            most[gram] = (count, first, at) if count > first else (first, max(second, count), position)
    return most


def _vendi(likeness: NDArray[np.float64]) -> float:
    """Vendi score (Friedman and Dieng 2023): exponential of the entropy of the eigenvalues of `likeness` / n
    (cosines)."""
    values = np.linalg.eigvalsh(likeness / likeness.shape[0])
    positive = values[values > 0]
    return float(np.exp(-(positive * np.log(positive)).sum()))


def table(rows: Sequence[SystemRow], dataset: str, model: str | None) -> Table:
    """One row for each system; the line of settings names the embedding model (None = none)."""
    columns = [
        *plain("system", "stories"),
        Column("self_bleu", "self-BLEU", digits=3),
        Column("distinct", "distinct-2", digits=3),
        Column("cosine", "mean cosine", digits=3),
        Column("vendi", "Vendi", digits=1),
        Column("prompt", "cosine to story-prompt", digits=3),
    ]
    printed = [{name: getattr(row, name) for name in SystemRow.__dataclass_fields__} for row in rows]
    notes = (
        "self-BLEU, mean cosine: the higher, the more alike a system's stories are; Vendi: effective number of stories",
        "all values but the cosines depend on the number of stories: compare systems with equal numbers",
        NO_MAUVE,
    )
    signature = f"{dataset}:{sum(row.stories for row in rows)}|encoder:{model or 'none'}|v{__version__}"
    return Table(f"Similarity of the stories of each system: {dataset}", columns, printed, signature, notes)
