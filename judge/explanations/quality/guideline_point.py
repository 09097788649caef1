"""The guideline most similar to an explanation, compared with the rating given. A difference does not show that the
rating is wrong. Guidelines of one criterion are similar, a text may weigh several, and one that copies its rating's
guideline agrees by copying."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.base.arrays import Floats
from judge.base.estimate import Estimate
from judge.base.records import Criterion
from judge.explanations.corpus.corpus import Pairs, word_pairs
from judge.explanations.quality import specificity
from judge.stats.estimation.means import clustered
from judge.stats.estimation.sample_size import clustered_proportion

# Scale points whose guidelines a text quotes, detected by words that occur in only one guideline of the criterion.

# Share of a sentence's own pairs of words from which on it counts as quoted.
QUOTED = 0.6


class QuotedPoints:
    """Detector of quotations from one criterion's guidelines, by word bigrams that only one guideline has. They are
    counted sentence by sentence. Grammatical person is ignored ("surprised me" equals "surprised you")."""

    def __init__(self, criterion: Criterion) -> None:
        self.criterion = criterion
        points = criterion.scale.points() if criterion.guidelines else ()
        self._own = tuple(zip(points, _own_pairs(criterion.guidelines), strict=True))

    def of(self, text: str) -> tuple[tuple[float, float], ...]:
        """(scale point, quoted share) for each guideline that the text quotes, largest share first. Of the own bigrams
        of the sentence quoted most, the share that the text has; quoted from 0.6 (`QUOTED`)."""
        if not self._own:
            return ()
        text_pairs = word_pairs(text)
        points = []
        for point, parts in self._own:
            share = max((len(own & text_pairs) / len(own) for own in parts), default=0.0)
            if share >= QUOTED:
                points.append((point, share))
        return tuple(sorted(points, key=lambda one: -one[1]))


def _own_pairs(guidelines: tuple[str, ...]) -> tuple[tuple[Pairs, ...], ...]:
    """For each guideline, each sentence's own word bigrams; sentences with fewer than two are left out."""
    whole = [word_pairs(guideline) for guideline in guidelines]
    result = []
    for i, guideline in enumerate(guidelines):
        others: Pairs = frozenset().union(*(pairs for other, pairs in enumerate(whole) if other != i))
        parts = (word_pairs(sentence) - others for sentence in re.split(r"(?<=[.!?])\s+", guideline))
        result.append(tuple(part for part in parts if len(part) > 1))
    return tuple(result)


Vectors = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class NearestPoint:
    """How often the guideline most similar to a text is that of its rating (`match`); ties are counted and left out.
    `chance` is the expected share if ratings and nearest guidelines were paired at random, None where no text counts.
    `difference` is the mean of the nearest guideline's scale point minus the rating."""

    match: Estimate
    chance: float | None
    difference: Estimate
    ties: int
    texts: int


def guideline_texts(criteria: Sequence[Criterion]) -> list[str]:
    """All guidelines, ordered by criterion, to embed together with the texts."""
    return [sentence for criterion in criteria for sentence in criterion.guidelines]


def split(criteria: Sequence[Criterion], vectors: Vectors) -> dict[str, tuple[Floats, Vectors]]:
    """Each criterion's scale points and guideline vectors, (points, d), from the embedded `guideline_texts`."""
    parts: dict[str, tuple[Floats, Vectors]] = {}
    at = 0
    for criterion in criteria:
        count = len(criterion.guidelines)
        if count:
            points = np.array(criterion.scale.points(), dtype=np.float64)
            parts[criterion.name] = (points, vectors[at : at + count])
        at += count
    return parts


def measure(
    frame: pd.DataFrame, vectors: Vectors, guidelines: Mapping[str, tuple[Floats, Vectors]], signature: str
) -> specificity.Measured[NearestPoint]:
    """Similarity of texts to guidelines, in one row for each judge, Eval-Prompt and criterion with guidelines. A rating
    between two scale points is rounded to the nearer one. Rows without a rating, a story or a criterion with guidelines
    are left out and counted. `guidelines` is the result of `split`."""
    usable = (
        specificity.rows_with(frame, "story")
        & frame["rating"].notna().to_numpy()
        & frame["criterion"].isin(guidelines).to_numpy()
    )
    part, x = frame[usable], vectors[usable]
    rows = [
        specificity.Row(asked, nearest_point(part.iloc[places], x[places], *guidelines[asked.criterion or ""]))
        for asked, places in specificity.groups(part, specificity.BY_CRITERION)
    ]
    notes = [
        (
            "nearest: the guideline of greatest cosine with the text; by chance: the same with nearest points "
            "assigned at random to the same ratings; difference in points of the scale"
        ),
        "guidelines of one criterion resemble each other, and a copied guideline agrees with the rating by copying",
    ]
    notes += specificity.left_out(usable, "a rating, a known story or a criterion with guidelines")
    return specificity.Measured(tuple(rows), signature, tuple(notes))


def nearest_point(frame: pd.DataFrame, vectors: Vectors, points: Floats, guidelines: Vectors) -> NearestPoint:
    """Nearest guidelines of one group of texts on one criterion; a text with two, or with a zero vector, is a tie."""
    cosine = vectors @ guidelines.T
    best = cosine.max(axis=1)
    # Float32 cosines of equal guidelines can differ in their last digits.
    tied = (cosine >= best[:, None] - 1e-6).sum(axis=1) > 1
    nearest = cosine.argmax(axis=1)[~tied]
    given = frame["rating"].to_numpy(dtype=np.float64)[~tied]
    rating = np.abs(given[:, None] - points[None, :]).argmin(axis=1)
    story = specificity.codes(frame, specificity.STORY)[~tied]
    chance = None
    if nearest.size:
        shares = [np.bincount(which, minlength=points.size) / nearest.size for which in (nearest, rating)]
        chance = float(shares[0] @ shares[1])
    return NearestPoint(
        match=clustered_proportion((nearest == rating).astype(np.float64), story),
        chance=chance,
        difference=clustered(points[nearest] - given, story),
        ties=int(tied.sum()),
        texts=len(frame),
    )
