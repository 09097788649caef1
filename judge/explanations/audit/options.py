"""Options of a sample for an audit. This module does not import numpy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from judge.base.choices import RESAMPLES
from judge.base.errors import SpecError
from judge.base.wording import Advice
from judge.explanations.audit.items import BLINDABLE

# Options of an audit's report. This module does not import numpy.

REPORT_BY = ("judge", "eval_prompt", "criterion", "perturbation")


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Options of an audit's report: `by` are variables of `answer_matrix.LEVELS`; no `annotators` = all; `top` 0 = all.
    `resamples` and `seed` are those of Krippendorff's alpha, used only if no two items are about the same story."""

    by: tuple[str, ...] = REPORT_BY
    annotators: tuple[str, ...] = ()
    resamples: int = RESAMPLES
    seed: int = 1
    top: int = 10

    def __post_init__(self) -> None:
        if self.resamples < 0 or self.top < 0:
            raise SpecError(Advice("{resamples} and {top} must be 0 or more"))


# Options that do not stand in the signature, and why.
EXEMPT = {"by": "adds tables; no number depends on it", "top": "the length of a list; no number depends on it"}


DEFAULT_BLIND = BLINDABLE
DEFAULT_BY = ("judge", "criterion", "eval_prompt")
DEFAULT_SPREAD = ("rating", "gap", "cluster")


@dataclass(frozen=True, slots=True)
class SampleOptions:
    """Options of a sample of `n` explanations; `by` and `spread` name variables of `population.VARIABLES`.

    `by` defines strata; within one, the sample is spread over the values of `spread`. `allocation` "equal" draws the
    same number from each stratum (all of a smaller one), "proportional" gives every explanation the same chance.
    `per_story` is a maximum (None = no), and `blind` names facts that annotators do not see.
    """

    n: int = 100
    by: tuple[str, ...] = DEFAULT_BY
    spread: tuple[str, ...] = DEFAULT_SPREAD
    allocation: Literal["equal", "proportional"] = "equal"
    seed: int = 1
    first_repeat: bool = False
    per_story: int | None = None
    blind: tuple[str, ...] = DEFAULT_BLIND
