"""Draws studies of bounded raters, and judges with planted faults for any world of studies.

A second model beside `worlds`, with other parts. A person answers a story with 1 plus a binomial number out of 4, whose
probability is a logistic function of the story's quality: ratings are bounded, noise is largest in the middle of the
scale, and no threshold exists. Persons differ in leniency, in slope (how much quality moves them), in carelessness (the
share of stories that they answer blindly) and in taste (each likes some story-prompts better than quality says). With
the defaults, 3 people agree at ICC(1,1) of about .33.

    raters = BoundedRaters(World(systems=10, story_prompts=30, people=3), np.random.default_rng(1))
    study = raters.study()
    judges = Judges(raters, study)
    table = study.with_judges(judge=judges.one_more(), copy=judges.repeats_rater()).table()

`Judges` makes judges for studies of `worlds.Studies` too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from tests.benchmarks.simulations.worlds import Floats, Studies, Study, World

POINTS = 5
"""Ratings are 1 to 5."""


@dataclass(frozen=True, slots=True)
class Spread:
    """How persons and stories differ. The quality of stories has the standard deviation 1."""

    system: float = 0.45
    story_prompt: float = 0.35
    slope: float = 1.05
    slopes: tuple[float, float] = (0.7, 1.3)
    """A person's slope is `slope` times a number between these."""
    leniency: float = 0.35
    taste: float = 0.4
    careless: tuple[float, float] = (0.0, 0.15)
    length: float = 0.25
    """Correlation of log length with quality."""
    shared: float = 0.7
    """What the criteria of one story have in common."""


@dataclass(frozen=True, slots=True, eq=False)
class BoundedReader:
    """One person: leniency, slope, share of blind answers, and taste for each story-prompt."""

    leniency: float
    slope: float
    careless: float
    taste: Floats


class Population(Protocol):
    """Who draws studies and persons: `BoundedRaters`, or `worlds.Studies`."""

    rng: np.random.Generator

    def study(self) -> Study:
        """One study without judges."""

    def person(self, quality: Floats, repeats: int | None = None) -> Floats:
        """One more person's ratings of stories of a quality (criteria, n)."""


@dataclass(frozen=True, eq=False)
class BoundedRaters:
    """Draws studies of bounded raters. Of `world` the numbers of systems, story-prompts, people and criteria count; a
    study has one story for each system and story-prompt.
    """

    world: World
    rng: np.random.Generator
    spread: Spread = field(default_factory=Spread)

    def study(self) -> Study:
        """One study without judges."""
        world, spread, rng = self.world, self.spread, self.rng
        system, prompt = (axis.reshape(-1) for axis in np.indices((world.systems, world.story_prompts)))
        n, own = system.size, np.sqrt(1 - spread.system**2 - spread.story_prompt**2)
        alike = rng.standard_normal(n)
        alone = rng.standard_normal((world.criteria, n))
        quality = (
            spread.system * rng.standard_normal((world.criteria, world.systems))[:, system]
            + spread.story_prompt * rng.standard_normal((world.criteria, world.story_prompts))[:, prompt]
            + own * (spread.shared * alike + np.sqrt(1 - spread.shared**2) * alone)
        )
        log = spread.length * quality[0] + np.sqrt(1 - spread.length**2) * rng.standard_normal(n)
        words = np.maximum(np.round(np.exp(5.2 + 0.45 * log)), 20)
        people = np.stack([self.person(quality) for _ in range(world.people)], axis=2)
        return Study(world, system, prompt, words, quality, people)

    def reader(self) -> BoundedReader:
        """One more person."""
        spread, rng = self.spread, self.rng
        return BoundedReader(
            leniency=spread.leniency * float(rng.standard_normal()),
            slope=spread.slope * float(rng.uniform(*spread.slopes)),
            careless=float(rng.uniform(*spread.careless)),
            taste=spread.taste * rng.standard_normal(self.world.story_prompts),
        )

    def person(self, quality: Floats, repeats: int | None = None) -> Floats:
        """One more person's ratings of stories of a quality (criteria, n); with `repeats`, read so many times over."""
        return self.read(self.reader(), quality, repeats)

    def read(self, reader: BoundedReader, quality: Floats, repeats: int | None = None) -> Floats:
        """A person's ratings of stories of a quality (criteria, n); with `repeats`, read so many times over."""
        prompt = np.arange(quality.shape[1]) % self.world.story_prompts
        opinion = reader.leniency + reader.slope * (quality + reader.taste[prompt])
        shape = (*quality.shape, repeats or 1)
        said = 1.0 + self.rng.binomial(POINTS - 1, (1 / (1 + np.exp(-opinion)))[..., None], shape)
        blind = self.rng.random(shape) < reader.careless
        said = np.where(blind, self.rng.integers(1, POINTS + 1, shape), said)
        return np.asarray(said if repeats else said[..., 0], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Judges:
    """Judges of one study. Each method returns ratings, shape (criteria, n), NaN = lost."""

    population: Population
    study: Study

    @property
    def _sd(self) -> float:
        return float(self.study.quality.std())

    def one_more(self) -> Floats:
        """Exactly one more person."""
        return self.population.person(self.study.quality)

    def honest_model(self, readings: int = 4) -> Floats:
        """A model without a taste or a leniency of its own: the rounded mean of so many persons."""
        each = [self.population.person(self.study.quality) for _ in range(readings)]
        return np.asarray(np.floor(np.mean(each, axis=0) + self._coin()), dtype=np.float64)

    def counts_words(self) -> Floats:
        """Rates by length alone: the longer, the better, each point as often as people give it."""
        return self._as_often(np.log(self.study.words) + np.zeros_like(self.study.quality))

    def constant(self, jitter: float = 0.2) -> Floats:
        """People's commonest rating, but a point off in this share of the stories."""
        n = self.study.quality.shape
        points, counts = np.unique(self.study.people, return_counts=True)
        off = self.population.rng.choice([-1.0, 1.0], n) * (self.population.rng.random(n) < jitter)
        return np.clip(points[counts.argmax()] + off, 1, POINTS)

    def system_alone(self) -> Floats:
        """Knows the true mean of each system, and nothing of a story."""
        study = self.study
        means = np.stack([[row[study.system == s].mean() for s in np.unique(study.system)] for row in study.quality])
        noise = 0.3 * self._sd * self.population.rng.standard_normal(study.quality.shape)
        return self._as_often(means[:, study.system] + noise)

    def noisy(self, share: float = 0.5) -> Floats:
        """One more person whose ratings of this share of the stories are those of stories drawn at random; .5 leaves
        half a person's tau, .6 two fifths of it.
        """
        said, rng = self.one_more(), self.population.rng
        for row in said:
            mixed = np.flatnonzero(rng.random(row.size) < share)
            row[mixed] = row[rng.permutation(mixed)]
        return said

    def favours_own(self, sd: float = 1.0, system: int = 0) -> Floats:
        """One more person to whom one system's stories are so many standard deviations of quality better."""
        return self.population.person(self.study.quality + sd * self._sd * (self.study.system == system))

    def rewards_length(self, sd: float = 0.5) -> Floats:
        """One more person to whom a standard deviation of log length is worth so many of quality."""
        log = np.log(self.study.words)
        return self.population.person(self.study.quality + sd * self._sd * (log - log.mean()) / log.std())

    def loses_middling(self, share: float = 0.46) -> Floats:
        """One more person who gives no rating to this share of the stories, those of middling quality."""
        far = np.abs(self.study.quality - np.median(self.study.quality, axis=1, keepdims=True))
        return np.where(far <= np.quantile(far, share, axis=1, keepdims=True), np.nan, self.one_more())

    def turned_round(self) -> Floats:
        """One more person who takes the lowest point of the scale for the best."""
        return POINTS + 1 - self.one_more()

    def repeats_rater(self, rater: int = 0, share: float = 1.0) -> Floats:
        """Gives one rater's ratings of this share of the stories, and one more person's of the others."""
        taken = self.population.rng.random(self.study.quality.shape) < share
        return np.where(taken, self.study.people[..., rater], self.one_more())

    def _coin(self) -> Floats:
        return self.population.rng.random(self.study.quality.shape)

    def _as_often(self, opinion: Floats) -> Floats:
        """Ratings in the order of the opinions, each point as often as people give it."""
        shares = np.quantile(self.study.people, (np.argsort(np.argsort(opinion, axis=1), axis=1) + 0.5) / self.study.n,
                             method="inverted_cdf")  # fmt: skip
        return np.asarray(shares, dtype=np.float64)


POPULATIONS: dict[str, Callable[[World, np.random.Generator], Population]] = {
    "bounded raters": BoundedRaters,
    "thresholds": Studies,
}
"""The two models: the one of this module, and that of `worlds`."""
