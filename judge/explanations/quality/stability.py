"""Does a judge give the same reasons twice? Likeness of repeats beside likeness of texts about different stories.

A judge whose reasons come from the story is more like itself on one story than across stories; where the two are equal,
repeats might as well be about another story. What this cannot say: that like reasons are good ones, and, near 1,
whether the judge is sure or only writes one sentence for everything (then between stories it is near 1 too). Likeness
is the cosine of embeddings: a negation or a changed number may hardly move it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.explanations.quality.options import NumbersOptions
from judge.explanations.quality.rows import BY_CRITERION, STORY, Measured, Row, codes, groups, told
from judge.stats.estimate import Estimate
from judge.stats.estimation.power import clustered_proportion
from judge.stats.vectors.cosine_similarity import cosines, likeness, pairs_between, pairs_within

Vectors = NDArray[np.float32]

PAIRS = 20_000
"""Random pairs of texts about different stories, from which the threshold is taken."""


@dataclass(frozen=True, slots=True)
class Stability:
    """Of some texts: mean likeness about one story, about different ones, and how far the first is above the second.

    `other_reasons`: of the `pairs` of repeats with equal ratings, the share less alike than the `threshold`.
    """

    within: Estimate
    between: Estimate
    difference: Estimate
    threshold: float | None
    other_reasons: Estimate
    pairs: int
    texts: int


def measure(frame: pd.DataFrame, vectors: Vectors, options: NumbersOptions, signature: str) -> Measured[Stability]:
    """One row a judge, Eval-Prompt and criterion.

    Parameters
    ----------
    frame : DataFrame
        Rows with a text; rows without a known story are left out, and counted. Texts without a repeat number count as
        texts about their story all the same.
    vectors : array, shape (rows, d)
    """
    known = told(frame, "story")
    part, x = frame[known], vectors[known]
    rows = [
        Row(asked, stability(part.iloc[places], x[places], options)) for asked, places in groups(part, BY_CRITERION)
    ]
    said = [
        (
            "mean cosine of two texts about one story (repeats of one query), and about different stories; 95 % "
            "intervals leave out one story at a time"
        ),
        (
            "same rating, different reasons: of pairs of repeats with equal ratings, those less alike than the median "
            f"pair about different stories (the threshold, from {PAIRS} random pairs); 50 % is what a judge reaches "
            "whose repeats are no more alike than that"
        ),
        "texts that are alike need not be right, and embeddings hardly see a negation",
    ]
    if lost := int((~known).sum()):
        said.append(f"{lost} texts without a known story are left out")
    return Measured(tuple(rows), signature, tuple(said))


def stability(frame: pd.DataFrame, vectors: Vectors, options: NumbersOptions) -> Stability:
    """Of one row: texts by one judge with one Eval-Prompt on one criterion."""
    story = codes(frame, STORY)
    found = likeness(vectors, story)
    rng = np.random.default_rng(options.seed)
    far = cosines(vectors, *pairs_between(story, PAIRS, rng))
    first, second = pairs_within(story)
    rating = frame["rating"].to_numpy(dtype=np.float64)
    equal = rating[first] == rating[second]  # NaN equals nothing: a pair without two ratings is not counted
    first, second = first[equal], second[equal]
    threshold = None
    if not far.size:
        other = Estimate.undefined("one story only")
    elif not first.size:
        other = Estimate.undefined("no two repeats of a query have a text and equal ratings")
    else:
        threshold = float(np.median(far))
        differ = cosines(vectors, first, second) < threshold
        other = clustered_proportion(differ.astype(np.float64), story[first])
    return Stability(found.within, found.between, found.difference, threshold, other, int(first.size), len(frame))
