"""All quality measures of explanations together, each computed once."""

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

Vectors = NDArray[np.float64]
Step = Callable[[str, int, int], None]

_SHARES = "ci:wilson-stories"
"""Of shares of texts: Wilson's interval, stories as clusters."""


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """Results of every quality measure of explanations. A measure that could not be computed has no rows. `specificity`
    shows how well the criterion can be recognised from the text, `taken` which criteria are confused, and `nearest` how
    often the guideline most similar to a text is that of its rating.
    """

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
    """All quality measures of explanations.

    Parameters
    ----------
    texts : ExplanationTexts
        All selected explanations; presence also counts rows without a text.
    rows : DataFrame
        The analysed rows, each with a text, index 0, 1, 2...
    vectors : array, shape (rows, d dimensions)
        Vectors of `rows`, of unit length or zero.
    guidelines : array, shape (guidelines, d dimensions)
        Vectors of all criteria's guidelines in order, embedded together with the rows.
    options : NumbersOptions
    signature : callable
        Function that returns the signature line under a table; its arguments are parts added to the line.
    step : callable, optional
        Called with (name of the step, 0, 0).
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
    """Function that returns a table's signature. Its arguments are the names of the options that affect the table, and
    the method of the intervals.
    """

    def sign(*names: str, intervals: str = "") -> str:
        own = fragments(options, *names) if names else []
        return signature(*own, *([intervals] if intervals else []))

    return sign


def _silent(_what: str, _done: int, _total: int) -> None:
    """Progress callback that does nothing."""
