"""Names of topics: phrases of their texts, by one of three methods.

`PHRASES`, the usual one, takes what a topic's texts use and other texts on its criterion do not. Phrases of one to four
words are weighed by the share of the topic's texts that hold them, times the logarithm of how much larger that is than
in all texts on the criterion. "Not" and its like stay, because a topic is a thing said and its sign. A phrase gives way
to a longer one that most of its texts hold, so that "new" becomes "introduces a new topic", and takes the words beside
it that most of the topic's sentences have there: "provide" becomes "does not provide". What speaks of few
story-prompts names nothing: its words have to be unmasked ones, and it has to be used for half of the story-prompts
that its texts could reach.

`CTFIDF` takes the words and pairs of highest class-TF-IDF (Grootendorst 2022), `KEYBERT` those of them that are nearest
to the mean of the topic's embedded texts (Grootendorst 2020). Both leave "not" out, and both read masked texts. A judge
names topics in `asked_names`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judge.base.arrays import Codes, Floats, renumbered
from judge.base.errors import MissingExtraError
from judge.base.fingerprint import text_key
from judge.base.late_pattern import late
from judge.explanations.corpus.masking import Mask, reach, words_of
from judge.explanations.mapping import keybert_ranking, keywords
from judge.inputs.embedding import default_model, embed
from judge.stats import near_ties

PHRASES, CTFIDF, KEYBERT = "phrases", "ctfidf", "keybert"

# Phrases of one topic, the most telling first; () for a topic without a telling one.
Phrases = tuple[str, ...]

# Distinct texts that are read for the names, phrases in a name, and words in a phrase.
_READ, _PHRASES, _LONGEST = 6000, 3, 4
# Texts of each topic that are embedded for KeyBERT.
_EMBEDDED = 40
# Share of the topic's texts that a phrase needs; share of a phrase's texts at which a longer one stands for it.
_LEAST, _INSTEAD = 0.1, 0.6
# Words that say with which sign something is said: no stop words here.
_SIGNS = frozenset({"not", "no", "never", "without", "lacks", "lack", "only", "too", "very", "more", "less", "but"})
# Share of the story-prompts within reach for which a phrase must be used.
_SPREAD = 0.5
# Of every text on a rating, or of any statement: they name nothing.
_HOLLOW = frozenset(
    {"response", "responses", "story", "text", "rating", "score", "rationale", "analysis", "does", "is", "given"}
    | {"completely", "entirely", "somewhat", "instead", "directly"}
)
# Words before what they turn into its opposite.
_NEGATIONS = frozenset(
    {"not", "no", "never", "without", "lacks", "lack", "doesn't", "isn't", "don't", "didn't", "can't", "cannot", "nor"}
)
# Share of a phrase's sentences that have one word beside it, at which it belongs to the phrase; most words so added.
_BESIDE, _ADDED = 0.6, 4
_BOUNDARY = "."
_SENTENCES = late(r"[.!?;]+(?:\s+|$)|\n+")


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """Texts (n,) with the number `of` (n,) of each one's topic, of `count`, negative for none, and the codes (n,) of
    its criterion (`group`) and story-prompt."""

    texts: Sequence[str]
    of: Codes
    group: Codes
    prompt: Codes
    mask: Mask
    count: int
    seed: int = 1

    @property
    def sample(self) -> Codes:
        """Places of the texts that are read for names."""
        return np.sort(np.random.default_rng(self.seed).permutation(np.flatnonzero(self.of >= 0))[:_READ])


def names(labelled: Labelled) -> list[Phrases]:
    """Up to three phrases for each topic."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

    texts, topic, group, prompt = labelled.texts, labelled.of, labelled.group, labelled.prompt
    mask, some = labelled.mask, labelled.sample
    hollow = ENGLISH_STOP_WORDS - _SIGNS
    reader = CountVectorizer(ngram_range=(1, _LONGEST), binary=True, min_df=2, tokenizer=str.split, token_pattern=None)
    try:
        spoken = [_spoken(texts[i]) for i in some]
        holds = reader.fit_transform(spoken)
    except ValueError:
        return [()] * labelled.count
    terms = reader.get_feature_names_out()
    telling = np.array([_tells(term.split(), hollow, mask) for term in terms], dtype=np.bool_)
    holds, terms = holds[:, telling].tocsr(), terms[telling]
    # A phrase of several words says more than one word.
    longer = np.sqrt([len(term.split()) for term in terms])
    named: list[Phrases] = [()] * labelled.count
    for number in np.unique(group[some]):
        rows = np.flatnonzero(group[some] == number)
        share_of_all = np.asarray(holds[rows].mean(axis=0)).ravel()
        for each in np.unique(topic[some[rows]]):
            own = rows[topic[some[rows]] == each]
            share = np.asarray(holds[own].mean(axis=0)).ravel()
            with np.errstate(divide="ignore", invalid="ignore"):
                weight = np.where(share >= _LEAST, share * np.log(share / share_of_all) * longer, 0.0)
            weight *= _spread(holds[own], prompt[some[own]])
            places = np.flatnonzero(np.isin(np.arange(some.size), own))
            named[each] = _chosen(weight, share, terms, [spoken[i].split() for i in places], hollow)
    return named


def _spoken(text: str) -> str:
    """The words of a text, with a mark between its sentences."""
    return f" {_BOUNDARY} ".join(" ".join(words_of(part)) for part in _SENTENCES.split(text) if part.strip())


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
    if _BOUNDARY in words or (not mask.why and not mask.kept.issuperset(words)):
        return False
    inside = [word for word in words if len(word) > 1 and word not in hollow and word not in _HOLLOW]
    return bool(set(inside) - _SIGNS) and words[0] in inside and words[-1] in inside and words[-1] not in _SIGNS


def _whole(phrase: list[str], texts: Sequence[list[str]]) -> list[str]:
    """The phrase with the words that stand beside it in most of the topic's sentences that hold it."""
    size = len(phrase)
    found = [(text, i) for text in texts for i in range(len(text) - size + 1) if text[i : i + size] == phrase]
    before: list[str] = []
    while len(before) < _ADDED and (
        word := _beside([t[i - 1 - len(before)] for t, i in found if i > len(before)], found)
    ):
        before.insert(0, word)
        found = [(t, i) for t, i in found if i >= len(before) and t[i - len(before)] == word]
    after: list[str] = []
    ends = [(t, i + size) for t, i in found]
    while len(after) < _ADDED and (
        word := _beside([t[i + len(after)] for t, i in ends if i + len(after) < len(t)], ends)
    ):
        after.append(word)
        ends = [(t, i) for t, i in ends if i + len(after) <= len(t) and t[i + len(after) - 1] == word]
    return [*before, *phrase, *after]


def _beside(words: list[str], found: Sequence[object]) -> str | None:
    # One word in most sentences; or a negation in most, whichever it is.
    counts = Counter(word for word in words if word != _BOUNDARY)
    if not counts:
        return None
    word, number = counts.most_common(1)[0]
    negated = [(count, one) for one, count in counts.items() if one in _NEGATIONS]
    if sum(count for count, _ in negated) >= _BESIDE * len(found):
        return max(negated)[1]
    return word if number >= _BESIDE * len(found) else None


def _trimmed(words: list[str], hollow: frozenset[str]) -> list[str]:
    """The phrase without words at its ends that say nothing; "does" stays before its "not"."""
    first, last, idle = 0, len(words), (hollow | _HOLLOW) - {"out"}
    while (
        first < last - 1
        and words[first] in idle
        and not (words[first] in ("does", "is", "do", "are") and words[first + 1] in _NEGATIONS)
    ):
        first += 1
    while last > first + 1 and words[last - 1] in idle:
        last -= 1
    return words[first:last]


def _chosen(weight: Floats, share: Floats, terms: Any, texts: Sequence[list[str]], hollow: frozenset[str]) -> Phrases:
    order = [i for i in near_ties.descending(weight.tolist())[:200] if weight[i] > 0]
    chosen: list[str] = []
    for i in order:
        term = str(terms[i])
        longer = [j for j in order if f" {term} " in f" {terms[j]} " and j != i and share[j] >= _INSTEAD * share[i]]
        best = max(longer, key=lambda j: (len(str(terms[j]).split()), round(float(share[j]), 9)), default=i)
        phrase = " ".join(_trimmed(_whole(str(terms[best]).split(), texts), hollow))
        if not any(set(phrase.split()) & set(other.split()) - _SIGNS for other in chosen):
            chosen.append(phrase)
        if len(chosen) == _PHRASES:
            break
    return tuple(chosen)


# Methods of the literature.


def class_names(labelled: Labelled) -> list[Phrases]:
    """The three words or pairs of highest class-TF-IDF for each topic. Raises MissingExtraError without
    scikit-learn."""
    return [tuple(word for word, _ in some[:_PHRASES]) for some in _candidates(labelled)]


def keybert_names(labelled: Labelled, model: str, cache: Path | None) -> tuple[list[Phrases], str]:
    """Three words or pairs by KeyBERT for each topic, and a note on the embeddings.

    Of each topic `_EMBEDDED` masked texts are embedded by `model`, a sentence-transformers model by name or folder, or
    ``auto``; vectors are kept in `cache`. Raises MissingExtraError without KeyBERT, SpecError for a model that cannot
    be loaded."""
    if keybert_ranking.installed() is None:
        raise MissingExtraError("names of topics by KeyBERT", "explain")
    candidates, some = _candidates(labelled), labelled.sample
    of = labelled.of[some]
    first = [some[of == number][:_EMBEDDED] for number in range(labelled.count)]
    hidden = [labelled.mask.masked([labelled.texts[i] for i in places]) for places in first]
    chosen = default_model() if model == "auto" else model
    embedded = embed([text for part in hidden for text in part], chosen, cache, seed=labelled.seed)
    ends = np.cumsum([len(part) for part in hidden])
    asked = [number for number in range(labelled.count) if candidates[number]]
    documents = [
        keybert_ranking.Document(
            [word for word, _ in candidates[number]],
            [text_key(text) for text in hidden[number]],
            embedded.vectors[ends[number] - len(hidden[number]) : ends[number]].mean(axis=0),
        )
        for number in asked
    ]
    found: list[Phrases] = [()] * labelled.count
    for number, ranked in zip(asked, keybert_ranking.keybert_words(documents, embedded, _PHRASES, cache), strict=True):
        found[number] = tuple(word for word, _ in ranked)
    return found, embedded.note


def _candidates(labelled: Labelled) -> list[list[tuple[str, float]]]:
    """Each topic's words and pairs by class-TF-IDF, the highest first."""
    some = labelled.sample
    counts = keywords.count(labelled.mask.masked([labelled.texts[i] for i in some]))
    if counts is None:
        return [[] for _ in range(labelled.count)]
    weights = keywords.class_tfidf(keywords.by_group(counts, labelled.of[some], labelled.count))
    return [keywords.best(row, counts.terms, keywords.CANDIDATES) for row in weights]
