"""Keywords that distinguish groups of explanations: class-TF-IDF, and YAKE, which the HANNA judge study used.

class-TF-IDF (Grootendorst 2022, BERTopic): the weight of a term in a group is its share of the group's terms times
log(1 + A / f), with the term's count f over all groups and the mean number A of terms per group. The 300 best terms of
a group are KeyBERT's candidates. Stop words and numbers are removed before word pairs are formed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judge.base.arrays import Floats
from judge.base.errors import MissingExtraError
from judge.explanations.corpus.corpus import EXPERT
from judge.explanations.mapping.explanation_map import ExplanationMap
from judge.stats import near_ties

if TYPE_CHECKING:
    import pandas as pd


Weights = NDArray[np.float64]

CANDIDATES = 300
# The study's call: `yake.KeywordExtractor(n=3, dedupLim=0.3, top=30)`.
YAKE_WORDS, YAKE_DEDUP, YAKE_TOP = 3, 0.3, 30

# Bounds memory: pairs of words grow with the texts; the most frequent terms are kept.
_FEATURES = 200_000
# Two characters or more, a letter among them: a number is no keyword.
_WORD = r"(?u)\b(?=\w*[^\W\d_])\w\w+\b"

_LEFT_OF_CONTRACTIONS = "ain aren couldn didn doesn don hadn hasn haven isn ll mightn shouldn ve wasn weren wouldn"


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Occurrences of each term in each text: a sparse matrix of shape (texts, terms), and the terms."""

    matrix: Any
    terms: NDArray[np.str_]


def count(texts: Sequence[str]) -> Counts | None:
    """Counts of words and word pairs; None where only stop words remain. With 50 texts or more, terms of only one text
    are left out: they are mostly names and misspellings."""
    try:
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer
    except ImportError as error:
        raise MissingExtraError("keywords of explanations", "report") from error
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
    """Counts of terms in each group, shape (groups, terms); a negative code means that the text is in no group."""
    from scipy.sparse import csr_matrix

    rows = np.flatnonzero(codes >= 0)
    shape = (groups, codes.size)
    member = csr_matrix((np.ones(rows.size), (codes[rows], rows)), shape=shape)
    return np.asarray((member @ counts.matrix).todense(), dtype=np.float64)


def class_tfidf(counted: Weights) -> Weights:
    """Class-TF-IDF weights from counts, both of shape (groups, terms); 0 where the group lacks the term."""
    total = counted.sum(axis=1, keepdims=True)
    share = counted / np.where(total > 0, total, 1)
    overall = counted.sum(axis=0)
    mean = counted.sum() / max(1, counted.shape[0])
    return np.asarray(share * np.log1p(mean / np.where(overall > 0, overall, np.inf)), dtype=np.float64)


def best(weights: NDArray[np.float64], terms: NDArray[np.str_], wanted: int) -> list[tuple[str, float]]:
    """Up to `wanted` terms with the largest weights above 0, best first; ties keep the order of `terms`."""
    order = near_ties.descending(weights.tolist())[:wanted]
    return [(str(terms[i]), float(weights[i])) for i in order if weights[i] > 0]


def yake(text: str) -> list[tuple[str, float]]:
    """(keyword, score) of a long text by the HANNA judge study's method (YAKE), best (lowest score) first."""
    try:
        from yake import KeywordExtractor
    except ImportError as error:
        raise MissingExtraError("keywords by YAKE", "explain") from error
    # Since 0.6 the word is dedup_lim: the study's dedupLim would be taken without a word, and do nothing.
    keywords = KeywordExtractor(n=YAKE_WORDS, dedup_lim=YAKE_DEDUP, top=YAKE_TOP).extract_keywords(text)
    return [(str(word), float(score)) for word, score in keywords]


# Terms that people use more often than judges, or judges more often than people, ranked by log-odds ratio.

# Terms that the prior weighs, some dozens of texts: without it rare terms of one side would lead the list.
PRIOR = 1000.0

PEOPLE, JUDGES = "people", "judges"

Rows = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class SideWord:
    """A term that people use more often than judges, or judges more often than people.

    `within` is the verdict (band of ratings; "" = all texts), `said_by` is `PEOPLE` or `JUDGES`. `people` and `judges`
    count texts with the term; rates are per 1,000 terms, comparable where one side writes longer texts. `stories`
    counts those about which `said_by` uses the term. `z` is positive whoever uses it more often."""

    within: str
    said_by: str
    term: str
    people: int
    people_rate: float
    judges: int
    judges_rate: float
    stories: int
    z: float


@dataclass(frozen=True, slots=True)
class SideWords:
    """Terms that people or judges use more often, the most distinctive first, and both numbers of texts."""

    rows: tuple[SideWord, ...]
    people: int
    judges: int
    signature: str

    @property
    def frame(self) -> pd.DataFrame:
        from dataclasses import asdict

        import pandas as pd

        frame = pd.DataFrame([asdict(row) for row in self.rows])
        frame.attrs.update(signature=self.signature)
        return frame


def side_words(mapped: ExplanationMap) -> SideWords | None:
    """Terms that people or all judges together use more often; None without texts or terms of both."""
    side = mapped.rows["side"].to_numpy(dtype=str)
    people, judges = side == EXPERT, (side != EXPERT) & (side != "")
    if not people.any() or not judges.any():
        return None
    counts = count(list(mapped.rows["text"]))
    if counts is None:
        return None
    story = mapped.rows["story"].to_numpy(dtype=str)
    verdict = mapped.rows["band"].to_numpy(dtype=str)
    words: list[SideWord] = []
    for within in ("", *dict.fromkeys(sorted(set(verdict) - {""}))):
        kept = np.ones(verdict.size, dtype=np.bool_) if not within else verdict == within
        if (people & kept).any() and (judges & kept).any():
            words += _contrast(counts, people & kept, judges & kept, story, within, mapped.options.top)
    signature = mapped.signature(f"side:logodds/prior{PRIOR:g}")
    return SideWords(tuple(words), int(people.sum()), int(judges.sum()), signature)


def _contrast(
    counts: Counts, people: Rows, judges: Rows, story: NDArray[np.str_], within: str, top: int
) -> Iterator[SideWord]:
    codes = np.where(people, 0, np.where(judges, 1, -1)).astype(np.int64)
    first, second = by_group(counts, codes, 2)
    z = log_odds(first, second)
    holds = counts.matrix > 0
    for said_by, mine, scores in ((PEOPLE, people, z), (JUDGES, judges, -z)):
        for i in near_ties.descending(scores.tolist())[:top]:
            if scores[i] <= 0:
                break
            has = np.asarray(holds[:, [i]].todense(), dtype=bool).ravel()
            some, others = int(has[people].sum()), int(has[judges].sum())
            rates = (1000 * float(first[i] / first.sum()), 1000 * float(second[i] / second.sum()))
            about = np.unique(story[mine & has]).size
            term = str(counts.terms[i])
            yield SideWord(within, said_by, term, some, rates[0], others, rates[1], about, float(scores[i]))


def log_odds(first: Floats, second: Floats, prior: float = PRIOR) -> Floats:
    """z score of each term's log-odds ratio, positive where the first side uses it more often; 0 where neither does.
    Counts have shape (terms,). `prior` is the total count of the Dirichlet prior."""
    both = first + second
    total = both.sum()
    weight = prior * both / total if total else both
    held = both > 0
    first_counts, second_counts = (first + weight)[held], (second + weight)[held]
    odds_one = np.log(first_counts / (first.sum() + prior - first_counts))
    odds_two = np.log(second_counts / (second.sum() + prior - second_counts))
    scores = np.zeros(both.shape)
    scores[held] = (odds_one - odds_two) / np.sqrt(1 / first_counts + 1 / second_counts)
    return scores
