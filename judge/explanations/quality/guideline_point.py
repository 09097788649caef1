"""The guideline most similar to an explanation, compared with the rating given. A difference does not show that the
rating is wrong. Guidelines of one criterion are similar, a text may weigh several, and one that copies its rating's
guideline agrees by copying."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.base.estimate import Estimate
from judge.base.records import Criterion
from judge.explanations.quality.specificity import BY_CRITERION, STORY, Measured, Row, codes, groups, rows_with
from judge.stats.estimation.means import clustered
from judge.stats.estimation.sample_size import clustered_proportion

Vectors = NDArray[np.float64]
Floats = NDArray[np.float64]


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
) -> Measured[NearestPoint]:
    """Similarity of texts to guidelines, in one row for each judge, Eval-Prompt and criterion with guidelines. A rating
    between two scale points is rounded to the nearer one. Rows without a rating, a story or a criterion with guidelines
    are left out and counted. `guidelines` is the result of `split`."""
    usable = (
        rows_with(frame, "story") & frame["rating"].notna().to_numpy() & frame["criterion"].isin(guidelines).to_numpy()
    )
    part, x = frame[usable], vectors[usable]
    rows = [
        Row(asked, nearest_point(part.iloc[places], x[places], *guidelines[asked.criterion or ""]))
        for asked, places in groups(part, BY_CRITERION)
    ]
    notes = [
        (
            "nearest: the guideline of greatest cosine with the text; by chance: the same with nearest points "
            "assigned at random to the same ratings; difference in points of the scale"
        ),
        "guidelines of one criterion resemble each other, and a copied guideline agrees with the rating by copying",
    ]
    if lost := int((~usable).sum()):
        notes.append(f"{lost} texts without a rating, a known story or a criterion with guidelines are left out")
    return Measured(tuple(rows), signature, tuple(notes))


def nearest_point(frame: pd.DataFrame, vectors: Vectors, points: Floats, guidelines: Vectors) -> NearestPoint:
    """Nearest guidelines of one group of texts on one criterion; a text with two, or with a zero vector, is a tie."""
    cosine = vectors @ guidelines.T
    best = cosine.max(axis=1)
    # Float32 cosines of equal guidelines can differ in their last digits.
    tied = (cosine >= best[:, None] - 1e-6).sum(axis=1) > 1
    nearest = cosine.argmax(axis=1)[~tied]
    given = frame["rating"].to_numpy(dtype=np.float64)[~tied]
    rating = np.abs(given[:, None] - points[None, :]).argmin(axis=1)
    story = codes(frame, STORY)[~tied]
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
