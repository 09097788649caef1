"""Options of a sample for an audit. This module does not import numpy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from judge.explanations.audit.file.items import BLINDABLE

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
