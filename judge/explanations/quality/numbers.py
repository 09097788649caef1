"""All measures of explanations in one value, each computed once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.explanations.corpus.corpus import ExplanationTexts
from judge.explanations.quality import (
    flag_rates,
    groundedness,
    guideline_point,
    presence,
    rating_agreement,
    specificity,
    stability,
)
from judge.explanations.quality.evidence import Library
from judge.explanations.quality.flag_rates import Flagged
from judge.explanations.quality.groundedness import Groundedness
from judge.explanations.quality.guideline_point import NearestPoint
from judge.explanations.quality.options import NumbersOptions, fragments
from judge.explanations.quality.presence import Presence
from judge.explanations.quality.rating_agreement import Agreement, Contradiction
from judge.explanations.quality.readings import Readings
from judge.explanations.quality.rows import Measured
from judge.explanations.quality.specificity import TakenFor, ToldApart
from judge.explanations.quality.stability import Stability

Vectors = NDArray[np.float32]
Step = Callable[[str, int, int], None]

_SHARES = "ci:wilson-stories"
"""Of shares of texts: Wilson's interval, stories as clusters."""


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """The results of each measure; a measure without rows could not be computed. `options` apply to all."""

    options: NumbersOptions
    presence: Measured[Presence]
    specificity: Measured[ToldApart]
    taken: Measured[TakenFor]
    stability: Measured[Stability]
    agreement: Measured[Agreement]
    contradictions: Measured[Contradiction]
    nearest: Measured[NearestPoint]
    groundedness: Measured[Groundedness]
    flags: Measured[Flagged]


def numbers(
    texts: ExplanationTexts,
    rows: pd.DataFrame,
    vectors: Vectors,
    guidelines: Vectors,
    options: NumbersOptions,
    signature: Callable[..., str],
    step: Step | None = None,
) -> Numbers:
    """Compute presence, specificity, stability, agreement with the rating, nearest guidelines, substance, flags.

    Parameters
    ----------
    texts : ExplanationTexts
        Everything asked about: presence counts rows without a text too.
    rows : DataFrame
        The analysed rows, each with a text, index 0, 1, 2...
    vectors : float32 array, shape (rows, d)
        Rows of unit length, or of zeros.
    guidelines : float32 array, shape (guidelines, d)
        Of all criteria's guidelines in order, embedded together with the rows.
    signature : callable
        From further parts to the whole line.
    step : callable, optional
        Told of (what, 0, 0).
    """
    tell, readings, sign = step or _silent, Readings(), _signing(options, signature)
    tell("counting explanations", 0, 0)
    present = presence.measure(texts.frame, texts.criteria, readings, sign(intervals=_SHARES), texts.silent)
    tell("telling criteria apart", 0, 0)
    chosen = ("seed", "sample", "neighbours", "folds", "permutations", "refits", "components")
    classified, taken = specificity.measure(rows, vectors, options, sign(*chosen))
    tell("comparing repeats, ratings and stories", 0, 0)
    likeness = sign("seed", intervals="ci:jackknife-stories|reasons:wilson-stories")
    stable = stability.measure(rows, vectors, options, likeness)
    held = "hold-out:story-prompt"
    predicted = sign("seed", "folds", "components", "resamples", intervals=f"gain:t-inputs|{held}")
    listed = sign("seed", "folds", "components", intervals=held)
    agreed, contradictions = rating_agreement.measure(rows, vectors, options, predicted, listed)
    points = guideline_point.split(texts.criteria, guidelines)
    near = guideline_point.measure(rows, vectors, points, sign(intervals=f"{_SHARES}|difference:t-stories"))
    tell("reading quotations and names", 0, 0)
    library = Library(texts.stories, texts.criteria)
    boilerplate = sign("words", "stories_share", intervals=f"{_SHARES}|runs:t-stories")
    grounded = groundedness.measure(rows, library, readings, options, boilerplate)
    tell("flagging", 0, 0)
    flagged = flag_rates.measure(rows, texts.criteria, library, readings, sign(intervals=_SHARES))
    return Numbers(options, present, classified, taken, stable, agreed, contradictions, near, grounded, flagged)


def _signing(options: NumbersOptions, signature: Callable[..., str]) -> Callable[..., str]:
    """A function from names of options and the interval method to the signature under a table that they affect."""

    def sign(*names: str, intervals: str = "") -> str:
        own = fragments(options, *names) if names else []
        return signature(*own, *([intervals] if intervals else []))

    return sign


def _silent(_what: str, _done: int, _total: int) -> None:
    """Nobody wants to know."""
