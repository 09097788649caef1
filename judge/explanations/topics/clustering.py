"""Topics of masked explanations: k-means on TF-IDF of words and word pairs, for each criterion, and themes over them.

Fitted on a sample of distinct texts and assigned to all by cosine, so that every text gets the topic nearest to it. How
sure that is, is the gap between its likeness to the first and to the second topic. Themes are k-means clusters of the
topics' centres, weighted by the topics' sizes. The bars of this method are how little a topic depends on one
story-prompt, and how well fits on different story-prompts agree; silhouettes are none, for they are highest where
topics are stories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judge.base.arrays import Codes, Floats, renumbered
from judge.base.errors import MissingExtraError
from judge.explanations.corpus.masking import WORDS, Mask, mask
from judge.inputs.embedding import unit

# Topics of all criteria together, and themes over them.
TOPICS, THEMES = 50, 10
# Distinct texts to fit on, shared evenly between criteria.
SAMPLE = 20_000
# Likeness to the second topic this near to that of the first: the text lies between the two.
BETWEEN = 0.05
# Topic of a text without any word of the vocabulary.
NO_WORD = -1

# Words and pairs in fewer of the sampled texts cannot make a topic; dimensions of the decomposition; starts of k-means.
_RARE, _DIMENSIONS, _STARTS = 0.02, 50, 8
# Texts for each topic at least, as in sqrt(n / 5).
_CROWD = 5
_BLOCK = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class Topics:
    """Topics of n texts about several criteria.

    `topic` (n,) and `second` number each text's nearest and second nearest topic, `NO_WORD` where there is none; `gap`
    (n,) is the difference of its cosines to them, NaN without a second one. `criterion` (topics,) numbers each topic's
    criterion, `theme` (topics,) its theme. `mask` is in force, `fitted` counts the texts it was fitted on, `model`
    assigns others."""

    topic: Codes
    second: Codes
    gap: Floats
    criterion: Codes
    theme: Codes
    mask: Mask
    fitted: int
    model: Model

    @property
    def count(self) -> int:
        return int(self.criterion.size)

    @property
    def between(self) -> NDArray[np.bool_]:
        """Mask (n,) of the texts that lie between two topics."""
        return np.asarray(np.nan_to_num(self.gap, nan=np.inf) < BETWEEN, dtype=np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """Fitted topics: `centres` (topics, d) of unit length, with the `criterion` (topics,) of each."""

    mask: Mask
    reader: Any
    decomposed: Any
    centres: Floats
    criterion: Codes

    def vectors(self, texts: Sequence[str]) -> Floats:
        """Vectors of texts (n, d) of unit length; zeros for a text without any word of the vocabulary."""
        counted = self.reader.transform(self.mask.masked(texts))
        dense = counted.toarray() if self.decomposed is None else self.decomposed.transform(counted)
        return unit(np.asarray(dense, dtype=np.float64))

    def assign(self, vectors: Floats, criterion: Codes) -> tuple[Codes, Codes, Floats]:
        """Nearest and second nearest topic of each text among those of its criterion, and the gap of its cosines."""
        first = np.full(len(vectors), NO_WORD, dtype=np.int64)
        second, gap = first.copy(), np.full(len(vectors), np.nan)
        for number in np.unique(criterion):
            own = np.flatnonzero(self.criterion == number)
            rows = np.flatnonzero((criterion == number) & vectors.any(axis=1))
            if not own.size or not rows.size:
                continue
            # Rounded, so that equally near topics are one choice on every processor.
            likeness = np.round(vectors[rows] @ self.centres[own].T, 9)
            order = np.argsort(-likeness, axis=1, kind="stable")[:, :2]
            first[rows] = own[order[:, 0]]
            if own.size > 1:
                second[rows] = own[order[:, 1]]
                near = np.take_along_axis(likeness, order, axis=1)
                gap[rows] = near[:, 0] - near[:, 1]
        return first, second, gap


def topics(
    texts: Sequence[str], criterion: Codes, prompt: Codes, *, count: int = TOPICS, themes: int = THEMES, seed: int = 1
) -> Topics:
    """Topics of the reasons in `texts`, with the codes (n,), from 0, of each one's criterion and story-prompt.

    `count` is the number of topics of all criteria together; a criterion gets sqrt(texts / 5) at most. Raises
    MissingExtraError without scikit-learn."""
    model, fitted = fit(texts, criterion, prompt, count=count, seed=seed)
    first = np.full(len(texts), NO_WORD, dtype=np.int64)
    second, gap = first.copy(), np.full(len(texts), np.nan)
    for start in range(0, len(texts), _BLOCK):
        part = slice(start, start + _BLOCK)
        first[part], second[part], gap[part] = model.assign(model.vectors(texts[part]), criterion[part])
    size = np.bincount(first[first >= 0], minlength=len(model.centres)).astype(np.float64)
    return Topics(
        first, second, gap, model.criterion, _themes(model.centres, size, themes, seed), model.mask, fitted, model
    )


def fit(
    texts: Sequence[str], criterion: Codes, prompt: Codes, *, count: int = TOPICS, seed: int = 1
) -> tuple[Model, int]:
    """The fitted model and the number of distinct texts that it was fitted on; arguments as of `topics`."""
    try:
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer
    except ImportError as error:
        raise MissingExtraError("topics of explanations", "report") from error
    seen: dict[tuple[str, int], int] = {}
    for place, key in enumerate(zip(texts, criterion.tolist(), strict=True)):
        seen.setdefault(key, place)
    distinct = np.fromiter(seen.values(), dtype=np.int64, count=len(seen))
    masking = mask([texts[i] for i in distinct], prompt[distinct])
    sample = _sampled(distinct, criterion, seed)
    reader = TfidfVectorizer(
        sublinear_tf=True, ngram_range=(1, 2), token_pattern=WORDS, min_df=max(2, round(_RARE * sample.size))
    )
    hidden = masking.masked([texts[i] for i in sample])
    try:
        table = reader.fit_transform(hidden)
    except ValueError:  # few texts, which share no word
        reader = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), token_pattern=WORDS).fit([*hidden, "-"])
        table = reader.transform(hidden)
    dimensions = min(_DIMENSIONS, table.shape[0] - 1, table.shape[1] - 1)
    decomposed = TruncatedSVD(dimensions, random_state=seed).fit(table) if dimensions >= 2 else None
    dense = table.toarray() if decomposed is None else decomposed.transform(table)
    vectors = unit(np.asarray(dense, dtype=np.float64))
    centres, of = _centres(vectors, criterion[sample], np.bincount(criterion[distinct]), count, seed)
    return Model(masking, reader, decomposed, centres, of), int(sample.size)


def _sampled(distinct: Codes, criterion: Codes, seed: int) -> Codes:
    """Places of the texts to fit on: at random, and as many of each criterion as of the others where there are."""
    rng = np.random.default_rng(seed)
    some = rng.permutation(distinct)
    numbers = np.unique(criterion[distinct])
    each = SAMPLE // numbers.size
    return np.sort(np.concatenate([some[criterion[some] == number][:each] for number in numbers]))


def _centres(vectors: Floats, criterion: Codes, size: Codes, count: int, seed: int) -> tuple[Floats, Codes]:
    """Unit centres (topics, d), those of a criterion by size, the largest first, and the criterion of each."""
    from sklearn.cluster import KMeans

    numbers = np.unique(criterion)
    centres, of = [], []
    for number in numbers:
        rows = vectors[(criterion == number) & vectors.any(axis=1)]
        if not len(rows):
            continue
        distinct = len(np.unique(np.round(rows, 9), axis=0))
        wanted = min(max(1, round(count / numbers.size)), max(1, round((size[number] / _CROWD) ** 0.5)), distinct)
        fitted = KMeans(wanted, n_init=_STARTS, random_state=seed).fit(rows)
        order = np.argsort(-np.bincount(fitted.labels_, minlength=wanted), kind="stable")
        centres.append(unit(np.asarray(fitted.cluster_centers_, dtype=np.float64)[order]))
        of += [number] * wanted
    return (np.concatenate(centres) if centres else np.empty((0, vectors.shape[1]))), np.array(of, dtype=np.int64)


def _themes(centres: Floats, size: Floats, themes: int, seed: int) -> Codes:
    """Theme (topics,) of each topic, the theme with most texts first."""
    from sklearn.cluster import KMeans

    if len(centres) <= themes:
        return np.arange(len(centres), dtype=np.int64)
    fitted = KMeans(themes, n_init=20, random_state=seed).fit(centres, sample_weight=np.maximum(size, 1.0))
    order = np.argsort(-np.bincount(fitted.labels_, weights=size, minlength=themes), kind="stable")
    return renumbered(np.argsort(order)[fitted.labels_])
