"""Gain in agreement with people from one more repeat, Eval-Prompt, judge or person, and its cost.

The mean of all ratings is correlated with mean human ratings, once with all repeats (or Eval-Prompts, judges, people)
and once with one fewer (averaged over which one is left out). A curve through these two correlations predicts the
correlation with one more (`stats.correlation.attenuation`). Costs are those of the run's own answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from scipy import special

from judge.analysis.inputs.rated_design import EVAL_PROMPT, JUDGE, REPEAT
from judge.analysis.options.agreement_options import PlanOptions
from judge.analysis.options.signature import Signed
from judge.analysis.planning.figures import Figures, Pilot
from judge.base.arrays import Floats, renumbered, row_means
from judge.base.printing.tables import cells_of
from judge.stats.correlation import kendall
from judge.stats.correlation.human_ceiling import next_gain
from judge.stats.estimation.sample_size import RANGE, Number, Spread, spread
from judge.stats.resampling import resampled_correlations as resampled_tau
from judge.stats.resampling.bootstrap import Factor, Resamples

# Result types of planning: the number needed for each question, and gains and costs of further ratings.

Question = Literal["half-width", "difference", "order of systems", "order of stories", "people", "replacement"]


@dataclass(frozen=True, slots=True)
class Answer:
    """The number that reaches an aim (`question`) on one criterion.

    `unit` is what it counts: ``story-prompts``, ``stories`` of a system, ``answers`` or ``people`` for a story.
    `number` has its range of 10 to 90 %; None = larger than any number tried, or not attainable. `stories` is for each
    story-prompt; None for another unit. `has` is the pilot's number, and `now` what it achieves: half-width, smallest
    difference detected, reliability or power. `design` describes the numbers held fixed. `reason` says why there is no
    answer. `null` is how often a judge that gives every story the same rating would pass the alternative annotator test
    with this number. `limit` is that of a reliability which no number reaches."""

    dataset: str
    question: Question
    criterion: str
    unit: str
    number: Number
    stories: float | None
    has: float | None
    now: float | None
    design: str = ""
    reason: str | None = None
    null: float | None = None
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class Lever:
    """The gain in tau with people from one more repeat, Eval-Prompt, judge or person (`lever`), and its cost. `has` is
    the present number, `tau` that of the mean of all ratings, `last` the gain from the last one added, `gain` the
    predicted gain from the next, with its range of 10 to 90 % in `low` and `high`. `answers` and `ratings` count
    further answers by judges and further human ratings; dollars, tokens and hours are None where unknown."""

    dataset: str
    criterion: str
    lever: str
    has: int
    tau: float | None
    last: float | None
    gain: float | None
    low: float | None
    high: float | None
    answers: int
    ratings: int
    dollars: float | None
    tokens: float | None
    hours: float | None
    reason: str | None = None

    def per_hundredth(self, total: float | None) -> float | None:
        """Cost of a gain of 0.01 in tau, from the `total` cost of one more; None without gain or cost."""
        return None if total is None or not self.gain or self.gain <= 0 else total / (100 * self.gain)


@dataclass(frozen=True, slots=True, eq=False)
class Planned(Signed):
    """Answers, and gains and costs of the next expenses. `source` says where the variances come from."""

    answers: tuple[Answer, ...]
    levers: tuple[Lever, ...]
    options: PlanOptions
    source: str
    pilot: bool

    @property
    def frame(self) -> pd.DataFrame:
        """One row per planning question and criterion. A number is null if it is larger than any number tried, or if
        there is none; `reason` then says why."""
        return self.signed(
            cells_of(answer, "dataset", "question", "criterion")
            | {"of": answer.unit, "number": answer.number.value, **cells_of(answer.number, "low", "high")}
            | {"stories_each": answer.stories, **cells_of(answer, "has", "now", "design")}
            | {"null_passes": answer.null, **cells_of(answer, "limit", "reason")}
            for answer in self.answers
        )


PERSON = "person"
# How often one person of each story is left out at random.
DRAWS = 12


@dataclass(frozen=True, slots=True)
class Usage:
    """Mean cost of one answer; None = unknown. `basis` says how dollars were computed."""

    dollars: float | None = None
    tokens: float | None = None
    hours: float | None = None
    basis: str = ""


def levers(pilot: Pilot, usage: Usage, options: PlanOptions) -> Iterator[Lever]:
    """Gain and cost of each lever on every criterion of a pilot; `usage` is the mean cost of one answer."""
    for figures in pilot.figures:
        yield from _Criterion(pilot, figures, usage, options).levers()


class _Criterion:
    """Judges' ratings of one criterion, shape (judges x Eval-Prompts, n stories, repeats); NaN = none."""

    def __init__(self, pilot: Pilot, figures: Figures, usage: Usage, options: PlanOptions) -> None:
        self.found, self.usage, self.options = figures, usage, options
        matrix = pilot.matrix
        self.prompt = matrix.story_prompt
        cells = [
            (i, cell)
            for i, cell in enumerate(matrix.cells)
            if cell.criterion == figures.criterion and (cell.run, cell.judge) not in pilot.left_out
        ]
        parts = [matrix.wide(i) for i, _ in cells]
        width = max(part.shape[1] for part in parts)
        self.ratings = np.full((len(parts), matrix.n, width), np.nan)
        for own, part in zip(self.ratings, parts, strict=True):
            own[:, : part.shape[1]] = part
        self.prompts = [cell.eval_prompt for _, cell in cells]
        self.judges = [(cell.run, cell.judge) for _, cell in cells]
        names: Mapping[str, int] = {name.casefold(): i for i, name in enumerate(matrix.criteria)}
        self.raters = matrix.by_position(names[(options.against or figures.criterion).casefold()])
        self.judged, self.people = self._mean(self.ratings), row_means(self.raters)
        self.both = ~(np.isnan(self.judged) | np.isnan(self.people))
        self.stories = int(self.both.sum())
        tau = self._taus([self.judged], self.people)[0, 0] if self.stories > 2 else np.nan
        self.tau = float(tau) if np.isfinite(tau) else None

    def levers(self) -> Iterator[Lever]:
        facets: Mapping[str, Sequence[object]] = {EVAL_PROMPT: self.prompts, JUDGE: self.judges}
        yield self._of_judges(REPEAT, self.ratings.shape[2], [self._without_repeat(r) for r in range(self._repeats)])
        for facet, levels in facets.items():
            names = list(dict.fromkeys(levels))
            kept = [[level != name for level in levels] for name in names] if len(names) > 1 else []
            yield self._of_judges(facet, len(names), [self._mean(self.ratings[np.array(keep)]) for keep in kept])
        yield self._of_people()

    @property
    def _repeats(self) -> int:
        return self.ratings.shape[2] if self.ratings.shape[2] > 1 else 0

    def _without_repeat(self, repeat: int) -> Floats:
        return self._mean(np.delete(self.ratings, repeat, axis=2))

    def _of_judges(self, facet: str, has: int, fewer: Sequence[Floats]) -> Lever:
        levels = {REPEAT: self.ratings.shape[2], EVAL_PROMPT: len(set(self.prompts)), JUDGE: len(set(self.judges))}
        answers = self.stories * round(np.prod([count for name, count in levels.items() if name != facet]))
        if not fewer:
            return self._lever(facet, has, answers=answers, reason=f"there is one {facet}")
        taus = self._taus([self.judged, *fewer], self.people)
        return self._stepped(facet, has, taus[0], taus[1:].mean(axis=0), answers=answers)

    def _of_people(self) -> Lever:
        count = (~np.isnan(self.raters[self.both])).sum(axis=1)
        has = int(np.bincount(count).argmax()) if count.size else 0
        if has < 2:
            return self._lever(PERSON, has, ratings=self.stories, reason="a story has one rating by people")
        rng = np.random.default_rng(self.options.seed)
        less = [self._taus([self.judged], _one_less(self.raters, rng))[0] for _ in range(DRAWS)]
        now = self._taus([self.judged], self.people)[0]
        return self._stepped(PERSON, has, now, np.mean(less, axis=0), ratings=self.stories)

    def _stepped(
        self, name: str, has: int, now: Floats, before: Floats, *, answers: int = 0, ratings: int = 0
    ) -> Lever:
        """Gain from one more level, from tau with all (`now`) and one fewer: on all stories, then jackknifed."""
        gains = next_gain(before, now, has)
        if not np.isfinite(gains[0]):
            why = (
                "tau is undefined"
                if self.tau is None
                else "tau with fewer is not above 0, so that no gain can be predicted"
            )
            return self._lever(name, has, answers=answers, ratings=ratings, reason=why)
        ends = _ends(float(gains[0]), spread(gains[1:]))
        last = float(now[0] - before[0])
        return self._lever(name, has, float(gains[0]), ends, last, answers=answers, ratings=ratings)

    def _taus(self, judged: Sequence[Floats], people: Floats) -> Floats:
        """Tau with people on all stories, then without each story-prompt: (arrays, 1 + story-prompts)."""
        own = self.both
        unit = renumbered(self.prompt[own])
        size = int(unit.max(initial=0)) + 1
        counts = np.vstack([np.ones((1, size)), 1 - np.eye(size)]).astype(np.int32)
        codes = np.stack([kendall.codes(ratings[own]) for ratings in judged])
        drawn = resampled_tau.tau_b(Resamples((Factor(counts, unit),), "jackknife"), codes, kendall.codes(people[own]))
        return np.atleast_2d(drawn)

    def _mean(self, ratings: Floats) -> Floats:
        """Mean rating over judges and repeats, shape (n stories,), with equal weights for all judges."""
        cells = np.stack([row_means(cell) for cell in ratings])
        rated = ~np.isnan(cells)
        # Each judge's own mean is subtracted, so that a missing rating does not shift a story by the level of that
        # judge.
        level = np.where(rated, cells, 0.0).sum(axis=1) / np.maximum(rated.sum(axis=1), 1)
        total = np.where(rated, cells - level[:, None], 0.0).sum(axis=0)
        count = rated.sum(axis=0)
        # Sums of the same numbers in another order must stay ties.
        return np.asarray(np.where(count > 0, np.round(total / np.maximum(count, 1), 9), np.nan), dtype=np.float64)

    def _lever(
        self,
        name: str,
        has: int,
        gain: float | None = None,
        ends: tuple[float | None, float | None] = (None, None),
        last: float | None = None,
        *,
        answers: int = 0,
        ratings: int = 0,
        reason: str | None = None,
    ) -> Lever:
        usage, price = self.usage, self.options.rater_price
        spent = None if usage.dollars is None else usage.dollars * answers
        if ratings:
            spent = None if price is None else price * ratings
        return Lever(
            dataset=self.found.name,
            criterion=self.found.criterion,
            lever=name,
            has=has,
            tau=self.tau,
            last=last,
            gain=gain,
            low=ends[0],
            high=ends[1],
            answers=answers,
            ratings=ratings,
            dollars=spent,
            tokens=None if usage.tokens is None or ratings else usage.tokens * answers,
            hours=None if usage.hours is None or ratings else usage.hours * answers,
            reason=reason,
        )


def _ends(gain: float, scatter: Spread | None) -> tuple[float | None, float | None]:
    """Range of 10 to 90 % of a gain, from its jackknife over story-prompts."""
    if scatter is None:
        return None, None
    half = float(special.stdtrit(scatter.clusters - 1, RANGE[1])) * scatter.error
    return gain - half, gain + half


def _one_less(ratings: Floats, rng: np.random.Generator) -> Floats:
    rated = ~np.isnan(ratings)
    dealt = np.where(rated, rng.random(ratings.shape), -1.0)
    kept = ratings.copy()
    # Drawn story by story, because positions do not identify people.
    several = np.flatnonzero(rated.sum(axis=1) > 1)
    kept[several, dealt[several].argmax(axis=1)] = np.nan
    return row_means(kept)
