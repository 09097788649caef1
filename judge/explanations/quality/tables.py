"""All numbers beside the pictures of explanations, in the order they are printed: the one place that is called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.explanations.corpus.corpus import ExplanationTexts
from judge.explanations.quality import (
    evidence,
    flag_tables,
    groundedness,
    guideline_point,
    presence,
    rating_agreement,
    specificity,
    stability,
)
from judge.explanations.quality.evidence import Library
from judge.explanations.quality.options import NumbersOptions, fragments
from judge.printing.tables import Table

Vectors = NDArray[np.float32]
Step = Callable[[str, int, int], None]

_SHARES = "ci:wilson-stories"
"""Of shares of texts: Wilson's interval, stories as clusters."""


def tables(
    texts: ExplanationTexts,
    rows: pd.DataFrame,
    vectors: Vectors,
    guidelines: Vectors,
    options: NumbersOptions,
    signature: Callable[..., str],
    step: Step | None = None,
) -> list[Table]:
    """Presence, specificity, stability, agreement with the rating, nearest guidelines, substance, flags.

    A table without a row is left out, and the table of presence says why.

    Parameters
    ----------
    texts : ExplanationTexts
        Everything asked about: presence counts rows without a text too.
    rows : DataFrame
        The rows with a text that are looked at, index 0, 1, 2...
    vectors : float32 array, shape (rows, d)
        Rows of unit length, or of zeros.
    guidelines : float32 array, shape (guidelines, d)
        Of all criteria's guidelines in order, embedded together with the rows.
    signature : callable
        From further parts to the whole line.
    step : callable, optional
        Told of (what, 0, 0).
    """
    tell = step or _silent

    def sign(*names: str, intervals: str = "") -> str:
        own = fragments(options, *names) if names else []
        return signature(*own, *([intervals] if intervals else []))

    tell("counting explanations", 0, 0)
    first = presence.table(texts.frame, texts.criteria, sign(intervals=_SHARES), silent=texts.silent)
    tell("telling criteria apart", 0, 0)
    chosen = ("seed", "sample", "neighbours", "folds", "permutations", "refits", "components")
    found = specificity.tables(rows, vectors, options, sign(*chosen))
    tell("comparing repeats, ratings and stories", 0, 0)
    found.append(
        stability.table(rows, vectors, options, sign("seed", intervals="ci:jackknife-stories|reasons:wilson-stories"))
    )
    held = "hold-out:story-prompt"
    predicted = sign("seed", "folds", "components", "resamples", intervals=f"gain:t-inputs|{held}")
    listed = sign("seed", "folds", "components", intervals=held)
    found += rating_agreement.tables(rows, vectors, options, predicted, listed)
    points = guideline_point.split(texts.criteria, guidelines)
    found.append(guideline_point.table(rows, vectors, points, sign(intervals=f"{_SHARES}|difference:t-stories")))
    tell("reading quotations and names", 0, 0)
    library = Library(texts.stories, texts.criteria)
    boilerplate = sign("words", "stories_share", intervals=f"{_SHARES}|runs:t-stories")
    found.append(groundedness.table(rows, library, options, boilerplate))
    tell("flagging", 0, 0)
    found.append(flag_tables.table(rows, texts.criteria, library, sign(intervals=_SHARES)))
    for module in (presence, evidence):
        module.forget()
    if missing := [table.title for table in found if not table.rows]:
        first = replace(first, notes=[*first.notes, f"nothing to print for: {'; '.join(missing)}"])
    return [first, *(table for table in found if table.rows)]


def _silent(_what: str, _done: int, _total: int) -> None:
    """Nobody wants to know."""
