"""The guideline most similar to an explanation, compared with the rating given.

A difference does not show that the rating is wrong. Guidelines of one criterion are similar, a text may weigh several,
and an explanation that copies its own rating's guideline (as a prompt with guidelines invites) agrees by copying.
"""

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
from judge.stats.estimation.power import clustered_proportion

Vectors = NDArray[np.float64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class NearestPoint:
    """How often the guideline most similar to a text (its nearest guideline) is that of the text's rating, for a group
    of texts.

    `match` is the share of texts whose nearest guideline is that of their rating. `chance` is the expected share if the
    ratings and the nearest guidelines were paired at random; None where no text counts. `difference` is the mean of the
    nearest guideline's scale point minus the rating. `ties` counts texts equally near to two guidelines; they are left
    out of these three numbers.
    """

    match: Estimate
    chance: float | None
    difference: Estimate
    ties: int
    texts: int


def guideline_texts(criteria: Sequence[Criterion]) -> list[str]:
    """All guidelines, ordered by criterion, to embed together with the texts."""
    return [sentence for criterion in criteria for sentence in criterion.guidelines]


def split(criteria: Sequence[Criterion], vectors: Vectors) -> dict[str, tuple[Floats, Vectors]]:
    """Map from criterion to its scale points and the vectors of its guidelines, an array of shape (points, d
    dimensions).

    `vectors` are the embedded texts that `guideline_texts` returns.
    """
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
    """Similarity of texts to the guidelines of their criterion, in one row for each judge, Eval-Prompt and criterion
    with guidelines.

    A rating between two scale points is rounded to the nearer one.

    Parameters
    ----------
    frame : DataFrame
        Rows with a text; rows without a rating, a story or a criterion with guidelines are left out and counted.
    vectors : array, shape (rows, d dimensions)
        Vectors of the texts.
    guidelines : mapping
        Result of `split`: from criterion to its scale points and guideline vectors.
    signature : str
        Signature line under the table.
    """
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
    """How often the guideline most similar to a text is that of the text's rating, for one group of texts. A text
    equally near to two guidelines is a tie, and so is a text whose vector is zero.

    `vectors` are those of the texts, `points` the scale points of the criterion, and `guidelines` the vectors of the
    guidelines.
    """
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
