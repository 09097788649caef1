"""What can be chosen about a sample for an audit. Loads no arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

DEFAULT_BY = ("judge", "criterion", "eval_prompt")
DEFAULT_SPREAD = ("rating", "gap", "cluster")


@dataclass(frozen=True, slots=True)
class SampleOptions:
    """Choices of a sample. Variables of `by` and `spread` are `population.VARIABLES`; `per_story` None = any number."""

    n: int = 100
    by: tuple[str, ...] = DEFAULT_BY
    spread: tuple[str, ...] = DEFAULT_SPREAD
    allocation: Literal["equal", "proportional"] = "equal"
    seed: int = 1
    first_repeat: bool = False
    per_story: int | None = None
    blind: tuple[str, ...] = ()
