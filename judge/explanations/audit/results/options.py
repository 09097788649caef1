"""Options of an audit's report. This module does not import numpy."""

from __future__ import annotations

from dataclasses import dataclass

from judge.base.errors import SpecError
from judge.base.wording import Advice

REPORT_BY = ("judge", "eval_prompt", "criterion", "perturbation")


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Options of an audit's report: `by` are variables of `answer_matrix.LEVELS`; no `annotators` = all; `top` 0 = all.
    `resamples` and `seed` are those of Krippendorff's alpha, used only if no two items are about the same story."""

    by: tuple[str, ...] = REPORT_BY
    annotators: tuple[str, ...] = ()
    resamples: int = 1000
    seed: int = 1
    top: int = 10

    def __post_init__(self) -> None:
        if self.resamples < 0 or self.top < 0:
            raise SpecError(Advice("{resamples} and {top} must be 0 or more"))


# Options that do not stand in the signature, and why.
EXEMPT = {"by": "adds tables; no number depends on it", "top": "the length of a list; no number depends on it"}
