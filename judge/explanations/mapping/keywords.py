"""Keywords that distinguish groups of explanations: class-TF-IDF, and YAKE, which the HANNA judge study used.

class-TF-IDF (Grootendorst 2022, BERTopic) treats a group as one long text. The weight of a term in a group is its share
of the group's terms times log(1 + A / f). Here f is the term's count over all groups, and A is the mean number of terms
per group. The 300 best terms of a group are KeyBERT's candidates (`keybert_ranking`). English stop words and numbers
are removed before word pairs are formed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judge.base.errors import MissingExtraError
from judge.stats import near_ties

Weights = NDArray[np.float64]

CANDIDATES = 300
YAKE_WORDS, YAKE_DEDUP, YAKE_TOP = 3, 0.3, 30
"""The study's call: `yake.KeywordExtractor(n=3, dedupLim=0.3, top=30)`."""

# Bounds memory: pairs of words grow with the texts; the most frequent terms are kept.
_FEATURES = 200_000
_WORD = r"(?u)\b(?=\w*[^\W\d_])\w\w+\b"
"""Two characters or more, a letter among them: a number is no keyword."""

_LEFT_OF_CONTRACTIONS = "ain aren couldn didn doesn don hadn hasn haven isn ll mightn shouldn ve wasn weren wouldn"


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Occurrences of each term in each text: a sparse matrix of shape (texts, terms), and the terms."""

    matrix: Any
    terms: NDArray[np.str_]


def count(texts: Sequence[str]) -> Counts | None:
    """Counts of words and word pairs in the texts; None where only stop words remain.

    With 50 texts or more, terms that occur in only one text are left out, since they are mostly names and misspellings.
    """
    try:
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer
    except ImportError as error:
        raise MissingExtraError("keywords of explanations", "stats") from error
    least = 2 if len(texts) >= 50 else 1
    stop = sorted(ENGLISH_STOP_WORDS.union(_LEFT_OF_CONTRACTIONS.split()))
    reader = CountVectorizer(
        ngram_range=(1, 2), stop_words=stop, min_df=least, max_features=_FEATURES, token_pattern=_WORD
    )
    try:
        matrix = reader.fit_transform(texts)
    except ValueError:
        return None
    return Counts(matrix, reader.get_feature_names_out())


def by_group(counts: Counts, codes: NDArray[np.int64], groups: int) -> Weights:
    """Counts of terms in each group, as an array of shape (groups, terms). `codes` holds the number of each text's
    group, from 0; a negative number means that the text is in no group.
    """
    from scipy.sparse import csr_matrix

    rows = np.flatnonzero(codes >= 0)
    shape = (groups, codes.size)
    member = csr_matrix((np.ones(rows.size), (codes[rows], rows)), shape=shape)
    return np.asarray((member @ counts.matrix).todense(), dtype=np.float64)


def class_tfidf(counted: Weights) -> Weights:
    """Class-TF-IDF weights of terms in each group, computed from their counts. Both are arrays of shape (groups,
    terms). The weight is 0 where a group lacks the term.
    """
    total = counted.sum(axis=1, keepdims=True)
    share = counted / np.where(total > 0, total, 1)
    overall = counted.sum(axis=0)
    mean = counted.sum() / max(1, counted.shape[0])
    return np.asarray(share * np.log1p(mean / np.where(overall > 0, overall, np.inf)), dtype=np.float64)


def best(weights: NDArray[np.float64], terms: NDArray[np.str_], wanted: int) -> list[tuple[str, float]]:
    """Up to `wanted` terms of one group with the largest weights above 0, in descending order; ties keep the order of
    `terms`.
    """
    order = near_ties.descending(weights.tolist())[:wanted]
    return [(str(terms[i]), float(weights[i])) for i in order if weights[i] > 0]


def yake(text: str) -> list[tuple[str, float]]:
    """Keywords of one long text by the HANNA judge study's method (YAKE), as (word, score), best first. A lower score
    is better.
    """
    try:
        from yake import KeywordExtractor
    except ImportError as error:
        raise MissingExtraError("keywords by YAKE", "explain") from error
    # Since 0.6 the word is dedup_lim: the study's dedupLim would be taken without a word, and do nothing.
    keywords = KeywordExtractor(n=YAKE_WORDS, dedup_lim=YAKE_DEDUP, top=YAKE_TOP).extract_keywords(text)
    return [(str(word), float(score)) for word, score in keywords]
