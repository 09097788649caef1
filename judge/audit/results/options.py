"""What can be chosen about an audit's report. Loads no arrays."""

from __future__ import annotations

from dataclasses import dataclass

from judge.errors import SpecError
from judge.wording import Advice

DEFAULT_BY = ("judge", "eval_prompt", "criterion", "perturbation")


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Choices of a report.

    `by`: variables (`answer_matrix.LEVELS`) whose levels get rates of their own. `annotators`: these alone, empty =
    all. `resamples` and `seed` are of alpha's interval where no two items are of one story. `top`: disagreements
    listed, 0 = all.
    """

    by: tuple[str, ...] = DEFAULT_BY
    annotators: tuple[str, ...] = ()
    resamples: int = 1000
    seed: int = 1
    top: int = 10

    def __post_init__(self) -> None:
        if self.resamples < 0 or self.top < 0:
            raise SpecError(Advice("{resamples} and {top} must be 0 or more"))


EXEMPT = {"by": "adds tables; no number depends on it", "top": "the length of a list; no number depends on it"}
"""Options that do not stand in the signature, and why."""
