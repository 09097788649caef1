"""Whether a new judge may replace an old one, as one value with typed rows. Never prints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from judge.analysis.options.planning_options import SuccessionOptions
from judge.analysis.options.signed import Signed
from judge.stats.estimate import Estimate
from judge.stats.estimation.equivalence import Equivalence

Decision = Literal["equivalent", "better", "worse", "undecided", "no test"]
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Needed:
    """Number of additional stories that would decide an undecided test with the declared power; None = no number."""

    if_as_seen: int | None
    if_none: int | None


@dataclass(frozen=True, slots=True)
class Crosswalk:
    """A curve from the new judge's ratings to the old one's.

    Attributes
    ----------
    kind : ``linear`` or ``isotonic``
    points : tuple of (float, float)
        New rating -> the old judge's, fitted on all stories.
    rmse : Estimate
        Of predictions out of fold (story-prompts), in points of the scale.
    """

    kind: Literal["linear", "isotonic"]
    points: tuple[tuple[float, float], ...]
    rmse: Estimate


@dataclass(frozen=True, slots=True)
class Changed:
    """Share of stories with another verdict: by the new judge's raw ratings, through the isotonic crosswalk, by chance.

    `own` is between two single answers of the old judge to the same query.
    """

    raw: Estimate
    crossed: Estimate
    own: Estimate


@dataclass(frozen=True, slots=True)
class Heir:
    """Comparison of the old and new judge on one criterion with one Eval-Prompt, on the stories that both rated.

    Attributes
    ----------
    tau_old, tau_new : Estimate
        With people; undefined where people rated nothing of it.
    agreement : Equivalence
        Of the difference of these taus, new minus old, by its jackknife over story-prompts.
    level : Equivalence
        Of the difference of mean ratings, in points.
    alike : Estimate
        tau between the two judges' ratings.
    raw : Estimate
        Root mean squared difference of the two judges' ratings.
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
        """Decision on agreement with people."""
        return decided(self.agreement)

    @property
    def level_decision(self) -> Decision:
        """Decision on mean ratings, where ``better`` means higher."""
        return decided(self.level)


def decided(test: Equivalence) -> Decision:
    """Equivalent where both one-sided tests are significant; better or worse where the interval is outside bounds."""
    if test.p is None or test.difference.low is None or test.difference.high is None:
        return "no test"
    if test.p <= ALPHA:
        return "equivalent"
    if test.difference.low > test.bounds[1]:
        return "better"
    return "worse" if test.difference.high < test.bounds[0] else "undecided"


@dataclass(frozen=True, slots=True)
class Story:
    """A story whose verdict changes through the crosswalk, and by how much."""

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
    """Comparisons on every criterion and Eval-Prompt that both judges rated."""

    old: str
    new: str
    heirs: tuple[Heir, ...]
    stories: tuple[Story, ...]
    options: SuccessionOptions

    @property
    def frame(self) -> pd.DataFrame:
        """Row per criterion and Eval-Prompt: both tests, decisions, further stories needed, changed verdicts."""
        return self.signed([dict(_flat(heir)) for heir in self.heirs])

    @property
    def stories_frame(self) -> pd.DataFrame:
        """All stories whose verdict changes through the crosswalk, most changed first."""
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
