"""Result of comparing an old and a new judge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from judge.analysis.options.planning_options import SuccessionOptions
from judge.analysis.options.signature import Signed
from judge.base.estimate import Estimate
from judge.stats.estimation.equivalence import Equivalence

Decision = Literal["equivalent", "better", "worse", "undecided", "no test"]
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Needed:
    """Number of additional stories that would decide an undecided test with the required power, at the observed
    difference or at 0. None if the test is decided or was not possible, or if no number would decide it.
    """

    if_as_seen: int | None
    if_none: int | None


@dataclass(frozen=True, slots=True)
class Crosswalk:
    """A curve that converts the new judge's ratings to the old judge's scale. `points` are (new, predicted old)
    ratings, fitted on all stories; `rmse` is in points of the scale, cross-validated over story-prompts.
    """

    kind: Literal["linear", "isotonic"]
    points: tuple[tuple[float, float], ...]
    rmse: Estimate


@dataclass(frozen=True, slots=True)
class Changed:
    """Shares of stories whose verdict (the rating rounded to a point, or whether it reaches a cut) differs from the old
    judge's: by the new judge's ratings (`raw`), by these after isotonic conversion (`crossed`), and between two single
    answers of the old judge to the same query (`own`).
    """

    raw: Estimate
    crossed: Estimate
    own: Estimate


@dataclass(frozen=True, slots=True)
class Heir:
    """Comparison of the old and new judge on one criterion with one Eval-Prompt, on the stories that both rated.
    `tau_old` and `tau_new` with people are undefined without human ratings. `agreement` tests their difference, new
    minus old, with a jackknife over story-prompts; `level` that of mean ratings, in points. `alike` is the tau between
    the two judges, `raw` their root mean squared difference. `needed` would decide `agreement`, `needed_level` `level`.
    """

    dataset: str
    criterion: str
    eval_prompt: str
    stories: int
    story_prompts: int
    tau_old: Estimate
    tau_new: Estimate
    agreement: Equivalence
    level: Equivalence
    alike: Estimate
    raw: Estimate
    needed: Needed
    needed_level: Needed
    crosswalks: tuple[Crosswalk, ...]
    changed: Changed

    @property
    def decision(self) -> Decision:
        """Whether the new judge agrees with people as well as the old one."""
        return decided(self.agreement)

    @property
    def level_decision(self) -> Decision:
        """Whether mean ratings are equal; ``better`` = the new judge rates higher, ``worse`` = lower."""
        return decided(self.level)


def decided(test: Equivalence) -> Decision:
    """``equivalent``: both one-sided tests are significant. ``better``: the interval of the difference lies above the
    upper bound. ``worse``: it lies below the lower. ``undecided``: none of these. ``no test``: no p or interval.
    """
    if test.p is None or test.difference.low is None or test.difference.high is None:
        return "no test"
    if test.p <= ALPHA:
        return "equivalent"
    if test.difference.low > test.bounds[1]:
        return "better"
    return "worse" if test.difference.high < test.bounds[0] else "undecided"


@dataclass(frozen=True, slots=True)
class Story:
    """A story whose verdict changes if the new judge's rating, `crossed` to the old scale, replaces the old."""

    dataset: str
    story: str
    system: str
    criterion: str
    eval_prompt: str
    old: float
    new: float
    crossed: float


@dataclass(frozen=True, slots=True, eq=False)
class Succession(Signed):
    """Comparison of an old and a new judge by criterion and Eval-Prompt, and the `stories` whose verdict changes."""

    old: str
    new: str
    heirs: tuple[Heir, ...]
    stories: tuple[Story, ...]
    options: SuccessionOptions

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each dataset, criterion and Eval-Prompt, with both equivalence tests and their decisions, the
        number of additional stories that would decide them, and the shares of stories whose verdict would change.
        """
        return self.signed([dict(_flat(heir)) for heir in self.heirs])

    @property
    def stories_frame(self) -> pd.DataFrame:
        """All stories whose verdict changes, largest change first."""
        names = list(Story.__dataclass_fields__)
        return self.signed([{name: getattr(story, name) for name in names} for story in self.stories], names)


def _flat(heir: Heir) -> Iterator[tuple[str, object]]:
    yield from (("dataset", heir.dataset), ("criterion", heir.criterion), ("eval_prompt", heir.eval_prompt))
    yield from (("stories", heir.stories), ("story_prompts", heir.story_prompts))
    yield from (("tau_old", heir.tau_old.value), ("tau_new", heir.tau_new.value))
    for name, test, decision, needed in (
        ("tau", heir.agreement, heir.decision, heir.needed),
        ("level", heir.level, heir.level_decision, heir.needed_level),
    ):
        d = test.difference
        yield from ((f"{name}_difference", d.value), (f"{name}_low", d.low), (f"{name}_high", d.high))
        yield from ((f"{name}_p", test.p), (f"{name}_decision", decision), (f"{name}_reason", d.reason))
        yield from ((f"{name}_more_if_as_seen", needed.if_as_seen), (f"{name}_more_if_none", needed.if_none))
    yield from (("alike", heir.alike.value), ("rmse", heir.raw.value))
    yield from ((f"rmse_{walk.kind}", walk.rmse.value) for walk in heir.crosswalks)
    yield from (("changed", heir.changed.raw.value), ("changed_crossed", heir.changed.crossed.value))
    yield from (("changed_own", heir.changed.own.value),)
