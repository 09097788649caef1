"""Stability of explanations: similarity of repeats, compared with the similarity of texts about different stories.

If reasons come from the story, repeats on one story are more similar than texts on different stories. A high similarity
does not show that the reasons are good, and one near 1 not that the judge is certain: if texts on different stories are
also that similar, the judge writes the same sentence for everything. Similarity is the cosine of embeddings, which may
hardly change with a negation or another number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.base.estimate import Estimate
from judge.explanations.options import NumbersOptions
from judge.explanations.quality import specificity
from judge.stats.estimation.sample_size import clustered_proportion
from judge.stats.near_ties import SAME
from judge.stats.vectors import cosines, likeness, pairs_between, pairs_within

Vectors = NDArray[np.float64]

# Random pairs of texts about different stories, from which the threshold is taken.
PAIRS = 20_000


@dataclass(frozen=True, slots=True)
class Stability:
    """Mean cosine similarity `within` a story (of repeats), `between` different stories, and their difference.
    `threshold` is the median between stories; None with one story or no pair of repeats with equal ratings. `pairs`
    counts such pairs, and `other_reasons` is the share of them below `threshold`."""

    within: Estimate
    between: Estimate
    difference: Estimate
    threshold: float | None
    other_reasons: Estimate
    pairs: int
    texts: int


def measure(
    frame: pd.DataFrame, vectors: Vectors, options: NumbersOptions, signature: str
) -> specificity.Measured[Stability]:
    """Stability, in one row for each judge, Eval-Prompt and criterion. `vectors` has shape (rows, d). Rows without a
    known story are left out and counted; texts without a repeat number are included."""
    usable = specificity.rows_with(frame, "story")
    part, x = frame[usable], vectors[usable]
    rows = [
        specificity.Row(asked, stability(part.iloc[places], x[places], options))
        for asked, places in specificity.groups(part, specificity.BY_CRITERION)
    ]
    notes = [
        (
            "mean cosine of two texts about one story (repeats of one query), and about different stories; 95 % "
            "intervals leave out one story at a time"
        ),
        (
            "same rating, different reasons: of pairs of repeats with equal ratings, those less similar than the "
            f"median pair about different stories (the threshold, from {PAIRS} random pairs); 50 % is expected of a "
            "judge whose repeats are no more similar than that"
        ),
        "similar texts need not be correct, and embeddings hardly reflect a negation",
    ]
    notes += specificity.left_out(usable, "a known story")
    return specificity.Measured(tuple(rows), signature, tuple(notes))


def stability(frame: pd.DataFrame, vectors: Vectors, options: NumbersOptions) -> Stability:
    """Stability of texts by one judge with one Eval-Prompt on one criterion."""
    story = specificity.codes(frame, specificity.STORY)
    similarity = likeness(vectors, story)
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
        differ = cosines(vectors, first, second) < threshold - SAME
        other = clustered_proportion(differ.astype(np.float64), story[first])
    return Stability(
        similarity.within, similarity.between, similarity.difference, threshold, other, int(first.size), len(frame)
    )
