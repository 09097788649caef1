"""Names of topics: the phrases that a topic's texts use and other texts on its criterion do not, by class-TF-IDF.

Phrases of one to four words are weighed by the share of the topic's texts that hold them, times the logarithm of how
much larger that is than in all texts on the criterion. "Not" and its like stay, because a topic is a thing said and its
sign. A phrase gives way to a longer one that most of its texts hold, so that "new" becomes "introduces a new topic".
What speaks of few story-prompts names nothing: its words have to be unmasked ones, and it has to be used for half of
the story-prompts that its texts could reach."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judge.base.arrays import Codes, Floats, renumbered
from judge.explanations.corpus.masking import Mask, reach, words_of
from judge.stats import near_ties

# Distinct texts that are read for the names, phrases in a name, and words in a phrase.
_READ, _PHRASES, _LONGEST = 6000, 3, 4
# Share of the topic's texts that a phrase needs; share of a phrase's texts at which a longer one stands for it.
_LEAST, _INSTEAD = 0.1, 0.6
# Words that say with which sign something is said: no stop words here.
_SIGNS = frozenset({"not", "no", "never", "without", "lacks", "lack", "only", "too", "very", "more", "less", "but"})
# Share of the story-prompts within reach for which a phrase must be used.
_SPREAD = 0.5
# Of every text on a rating: they name nothing.
_HOLLOW = frozenset(
    {"response", "responses", "story", "text", "rating", "score", "rationale", "analysis", "does", "is", "given"}
)


def names(
    texts: Sequence[str], topic: Codes, group: Codes, prompt: Codes, mask: Mask, topics: int, *, seed: int = 1
) -> list[tuple[str, ...]]:
    """Up to three phrases for each of `topics` topics, the most telling first; () for a topic without a telling one.

    `topic` (n,) has the number of each text's topic, negative for none; `group` and `prompt` (n,) have the codes of its
    criterion and story-prompt."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

    some = np.sort(np.random.default_rng(seed).permutation(np.flatnonzero(topic >= 0))[:_READ])
    hollow = ENGLISH_STOP_WORDS - _SIGNS
    reader = CountVectorizer(ngram_range=(1, _LONGEST), binary=True, min_df=2, tokenizer=str.split, token_pattern=None)
    try:
        holds = reader.fit_transform([" ".join(words_of(texts[i])) for i in some])
    except ValueError:
        return [()] * topics
    terms = reader.get_feature_names_out()
    telling = np.array([_tells(term.split(), hollow, mask) for term in terms], dtype=np.bool_)
    holds, terms = holds[:, telling].tocsr(), terms[telling]
    # A phrase of several words says more than one word.
    longer = np.sqrt([len(term.split()) for term in terms])
    named: list[tuple[str, ...]] = [()] * topics
    for number in np.unique(group[some]):
        rows = np.flatnonzero(group[some] == number)
        share_of_all = np.asarray(holds[rows].mean(axis=0)).ravel()
        for each in np.unique(topic[some[rows]]):
            own = rows[topic[some[rows]] == each]
            share = np.asarray(holds[own].mean(axis=0)).ravel()
            with np.errstate(divide="ignore", invalid="ignore"):
                weight = np.where(share >= _LEAST, share * np.log(share / share_of_all) * longer, 0.0)
            weight *= _spread(holds[own], prompt[some[own]])
            named[each] = _chosen(weight, share, terms)
    return named


def _spread(holds: Any, prompt: Codes) -> NDArray[np.bool_]:
    """Whether each phrase, of columns (texts, phrases), is used for enough of the story-prompts of its texts."""
    codes = renumbered(prompt)
    sizes = np.bincount(codes)
    counts = np.asarray(holds.sum(axis=0)).ravel().astype(np.int64)
    rows, columns = holds.nonzero()
    seen = np.bincount(np.unique(codes[rows] * holds.shape[1] + columns) % holds.shape[1], minlength=holds.shape[1])
    within = {count: reach(int(count), sizes) for count in np.unique(counts)}
    return np.array([has >= round(_SPREAD * within[n], 9) for has, n in zip(seen, counts, strict=True)], dtype=np.bool_)


def _tells(words: Sequence[str], hollow: frozenset[str], mask: Mask) -> bool:
    # Neither end of a phrase is a word that could end anything, and one of its words says something.
    if not mask.why and not mask.kept.issuperset(words):
        return False
    inside = [word for word in words if len(word) > 1 and word not in hollow and word not in _HOLLOW]
    return bool(set(inside) - _SIGNS) and words[0] in inside and words[-1] in inside and words[-1] not in _SIGNS


def _chosen(weight: Floats, share: Floats, terms: Any) -> tuple[str, ...]:
    order = [i for i in near_ties.descending(weight.tolist())[:200] if weight[i] > 0]
    chosen: list[str] = []
    for i in order:
        term = str(terms[i])
        longer = [j for j in order if f" {term} " in f" {terms[j]} " and j != i and share[j] >= _INSTEAD * share[i]]
        best = max(longer, key=lambda j: (len(str(terms[j]).split()), round(float(share[j]), 9)), default=i)
        phrase = str(terms[best])
        if not any(set(phrase.split()) & set(other.split()) - _SIGNS for other in chosen):
            chosen.append(phrase)
        if len(chosen) == _PHRASES:
            break
    return tuple(chosen)
