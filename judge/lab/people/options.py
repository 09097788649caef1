"""Options of a study in which people rate stories. This module does not import numpy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from judge.base.errors import OptionError

# How a rater whose checks stand out is named in the report: by signs within the study, or by the rule of OpenMEVA.
Rule = Literal["signs", "openmeva"]
# What people are asked: ratings (points or labels) of each story, or which of two stories is better.
Ask = Literal["ratings", "pairs"]


@dataclass(frozen=True, slots=True)
class DesignOptions:
    """Options of a design: `n` stories (None = all; whole story-prompts, so that systems stay crossed with them),
    `raters`, `per_story` ratings of each. `core` stories are read by all raters, `checks` is the share of each rater's
    list that is read twice and, again, damaged; `practice` counts stories to practise on. `together`: all criteria of a
    story on one page, else one by one. `words_per_minute` is the reading speed of the forecast of time. With `ask`
    pairs, people compare two stories of one story-prompt, and `ties` says whether neither may be better."""

    n: int | None = None
    raters: int = 5
    per_story: int = 3
    seed: int = 1
    core: int = 0
    checks: float = 1 / 6
    practice: int = 2
    together: bool = True
    words_per_minute: int = 230
    ask: Ask = "ratings"
    ties: bool = True

    def __post_init__(self) -> None:
        for name in ("raters", "per_story", "words_per_minute"):
            if getattr(self, name) < 1:
                raise OptionError(name, getattr(self, name), "must be 1 or more")
        for name in ("core", "practice"):
            if getattr(self, name) < 0:
                raise OptionError(name, getattr(self, name), "must be 0 or more")
        if self.ask not in get_args(Ask):
            raise OptionError("ask", self.ask, allowed=get_args(Ask))
        if self.ask == "pairs" and self.core:
            raise OptionError("core", self.core, "must be 0 where people compare pairs")
        if self.n is not None and self.n < 1:
            raise OptionError("n", self.n, "must be 1 or more")
        if not 0 <= self.checks <= 0.5:
            raise OptionError("checks", self.checks, "must lie between 0 and 0.5")


@dataclass(frozen=True, slots=True)
class StudyPlanOptions:
    """Options of a plan, which makes no file: `pilot_study` is a study whose ratings tell how people differ, else `icc`
    is ICC(A,1) of one rating (None: a usual one); `judged` is the judge's correlation with what many people would say,
    `pay` what an hour costs, in any currency."""

    plan: bool = False
    pilot_study: Path | None = None
    icc: float | None = None
    judged: float = 0.5
    pay: float = 12.0

    def __post_init__(self) -> None:
        if not self.plan:
            for name, default in (("pilot_study", None), ("icc", None), ("judged", 0.5), ("pay", 12.0)):
                if getattr(self, name) != default:
                    raise OptionError(name, getattr(self, name), "has no effect without a plan")
        if self.icc is not None and (self.pilot_study is not None or not 0 < self.icc < 1):
            raise OptionError("icc", self.icc, "must lie between 0 and 1, and a pilot's own counts where there is one")
        if not 0 < self.judged < 1 or self.pay < 0:
            raise OptionError("judged", self.judged, "must lie between 0 and 1, and pay be 0 or more")


@dataclass(frozen=True, slots=True)
class PeopleOptions:
    """Options of the report: `rule` names raters in doubt; `false` is the share of attentive raters of the same design
    that the sum of six signs may name; `simulated` counts these; `resamples` and `seed` are those of alpha."""

    rule: Rule = "signs"
    false: float = 0.03
    simulated: int = 400
    resamples: int = 1000
    seed: int = 1

    def __post_init__(self) -> None:
        if self.rule not in get_args(Rule):
            raise OptionError("rule", self.rule, allowed=get_args(Rule))
        if not 0 < self.false < 0.5:
            raise OptionError("false", self.false, "must lie between 0 and 0.5")
        if self.simulated < 100 or self.resamples < 0:
            raise OptionError("simulated", self.simulated, "must be 100 or more")
