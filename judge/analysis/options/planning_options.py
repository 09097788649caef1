"""Options for planning a study before a run, and for replacing one judge by another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from judge.base.errors import OptionError
from judge.stats.agreement.alt_test import Measure

Study = Literal["hanna", "mans_roc", "mans_wp"]
# The study that stands in for a pilot unless another is named.
FIRST: Study = "hanna"


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """The aims of a plan, and the design that it assumes. `half_width` is the largest half-width of an interval of tau;
    `difference` of two taus is to be found with probability `power`; `reliability` is aimed at for the order of
    systems, of stories, and mean human ratings. `epsilon` is the tolerance in favour of the judge in the alternative
    annotator test. `prompts` and `repeats` are None as in the pilot. `positions` treats the position of a rating as a
    person where people are unknown. `rater_price` is dollars a rating. `like` is the study whose variances replace a
    pilot.
    """

    half_width: float = 0.05
    difference: float = 0.05
    reliability: float = 0.8
    power: float = 0.8
    epsilon: float = 0.1
    prompts: int | None = None
    repeats: int | None = None
    positions: bool = False
    rater_price: float | None = None
    like: Study = FIRST
    drop_systems: tuple[str, ...] = ()
    against: str | None = None
    seed: int = 1

    def __post_init__(self) -> None:
        for name in ("half_width", "difference", "reliability"):
            _share(name, getattr(self, name))
        if not 0.5 <= self.power < 1:
            raise OptionError("power", self.power, "must be at least 0.5 and below 1")
        if not 0 <= self.epsilon <= 1:
            raise OptionError("epsilon", self.epsilon, "must lie between 0 and 1: it is a share of stories")
        for name in ("prompts", "repeats"):
            count = getattr(self, name)
            if count is not None and count < 1:
                raise OptionError(name, count, "must be 1 or more")
        if self.rater_price is not None and self.rater_price < 0:
            raise OptionError("rater_price", self.rater_price, "must be 0 or more: it is dollars for one rating")
        if self.like not in get_args(Study):
            raise OptionError("like", self.like, allowed=get_args(Study))

    @property
    def measure(self) -> Measure:
        """Measure of closeness to people in the alternative annotator test."""
        return "rmse"


@dataclass(frozen=True, slots=True)
class SuccessionOptions:
    """Choices of the table that tests whether a new judge may replace an old one. `margin` is the largest difference in
    tau with people that does not matter, `points` that of mean ratings. A story's verdict is whether its rating is at
    least `cut`; None = its rating rounded. `power` is for the number of further stories, `folds` for fitting crosswalks
    (mappings from one judge's ratings to the other's), `top` for the printed stories with a changed verdict.
    """

    margin: float = 0.05
    points: float = 0.25
    cut: float | None = None
    power: float = 0.8
    folds: int = 5
    top: int = 10
    drop_systems: tuple[str, ...] = ()
    against: str | None = None
    seed: int = 1

    def __post_init__(self) -> None:
        _share("margin", self.margin)
        if self.points <= 0:
            raise OptionError("points", self.points, "must be above 0")
        if not 0.5 <= self.power < 1:
            raise OptionError("power", self.power, "must be at least 0.5 and below 1")
        for name, least in (("folds", 2), ("top", 1)):
            if getattr(self, name) < least:
                raise OptionError(name, getattr(self, name), f"must be {least} or more")


# Option -> its part of the signature, as in `signature.FRAGMENTS`.
PLANNING_FRAGMENTS: dict[str, Callable[[Any], str | None]] = {
    "half_width": lambda o: f"half-width:{o.half_width:g}",
    "difference": lambda o: f"difference:{o.difference:g}",
    "reliability": lambda o: f"reliability:{o.reliability:g}",
    "points": lambda o: f"points:{o.points:g}",
    "cut": lambda o: f"cut:{o.cut:g}" if o.cut is not None else None,
    "power": lambda o: f"power:{o.power:g}",
    "prompts": lambda o: f"prompts:{o.prompts}" if o.prompts else None,
    "repeats": lambda o: f"repeats:{o.repeats}" if o.repeats else None,
    "rater_price": lambda o: f"rater:${o.rater_price:g}" if o.rater_price is not None else None,
    "like": lambda o: f"like:{o.like}",
}

PlanningOptions = PlanOptions | SuccessionOptions


def _share(field: str, value: float) -> None:
    if not 0 < value < 1:
        raise OptionError(field, value, "must lie between 0 and 1")
