"""How many story-prompts the alternative annotator test takes to pass. Never plans on more people than the pilot had.

Of every person, a story-prompt contributes a sum of differences d (`alt_test`) over its stories. The means of d over G
story-prompts are about normal, with the pilot's mean and its covariance between people over G; a power is the share of
draws of such means, with standard errors that scatter as their degrees of freedom let them, in which the test of
`alt_test` over story-prompts passes (Benjamini-Yekutieli over the people, one half of them beaten).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judge.stats.agreement.alt_test import LEVEL, MIN_STORIES, PASS
from judge.stats.estimation.sample_size import FEWEST, RANGE, Number, fewest

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

DRAWS = 2000
PILOTS = 200
"""Resamples of the pilot's story-prompts behind a range."""


@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """What a pilot tells of the test: for each person sums of d and numbers of stories, (people, story-prompts)."""

    sums: Floats
    counts: Floats

    @property
    def clusters(self) -> int:
        """Story-prompts."""
        return int(self.sums.shape[1])

    def moments(self, weights: Floats | None = None) -> Moments:
        """Mean differences and their covariance, story-prompts standing as often as `weights` (G,) say."""
        w = np.ones(self.clusters) if weights is None else weights
        n = np.maximum(self.counts @ w, 1e-12)
        mean = (self.sums @ w) / n
        total = float(w.sum())
        # A ratio's influence: what each story-prompt's sum lies off the mean, over the mean number of stories.
        influence = (self.sums - mean[:, None] * self.counts) / (n / total)[:, None]
        each = float((self.counts.sum(axis=1) / self.clusters).min())
        return Moments(mean, (influence * w) @ influence.T / max(total - 1, 1.0), each)


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Mean d of each person (r,), the covariance (r, r) of one story-prompt's contributions, and how many stories of a
    story-prompt the person with fewest can be compared on.
    """

    mean: Floats
    covariance: Floats
    stories_each: float

    @property
    def least(self) -> int:
        """The fewest story-prompts with which the test is made: everybody needs `MIN_STORIES` stories."""
        return max(FEWEST, math.ceil(MIN_STORIES / max(self.stories_each, 1e-9)))


def differences(d: Floats, cluster: Codes) -> Differences:
    """Sums by story-prompt of differences d, shape (n stories, r people), NaN = not compared."""
    code = np.unique(cluster, return_inverse=True)[1].reshape(-1)
    size = int(code.max(initial=-1)) + 1
    known = ~np.isnan(d)
    sums = [np.bincount(code, weights=np.where(known[:, j], d[:, j], 0.0), minlength=size) for j in range(d.shape[1])]
    counts = [np.bincount(code, weights=known[:, j].astype(np.float64), minlength=size) for j in range(d.shape[1])]
    return Differences(np.array(sums), np.array(counts))


def power(found: Moments, clusters: int, epsilon: float, *, seed: int = 1, draws: int = DRAWS) -> float:
    """How often the test passes with so many story-prompts like the pilot's."""
    rng = np.random.default_rng(seed)
    people = found.mean.size
    root = _root(found.covariance)
    means = found.mean + rng.standard_normal((draws, people)) @ root.T / np.sqrt(clusters)
    df = clusters - 1
    scatter = np.sqrt(rng.chisquare(df, (draws, people)) / df)
    error = np.maximum(np.sqrt(np.diag(found.covariance) / clusters) * scatter, 1e-12)
    p = np.sort(special.stdtr(df, (means - epsilon) / error), axis=1)
    rank = np.arange(1, people + 1)
    below = p <= LEVEL * rank / (people * float((1 / rank).sum()))
    beaten = np.where(below.any(axis=1), people - below[:, ::-1].argmax(axis=1), 0)
    return float((beaten >= PASS * people).mean())


def story_prompts(found: Differences, epsilon: float, *, power_wanted: float = 0.8, seed: int = 1) -> Number:
    """Story-prompts with which the test passes as often as wanted, and the range of 10 to 90 % over resampled pilots.

    None where even the largest number does not: a judge that is no closer to the others than a person, epsilon granted,
    does not pass however many stories there are.
    """
    rng = np.random.default_rng(seed)
    weights = rng.multinomial(found.clusters, np.full(found.clusters, 1 / found.clusters), size=PILOTS)
    numbers = [
        needed(found.moments(w.astype(np.float64)), epsilon, power_wanted, seed=seed, draws=400) for w in weights
    ]
    ordered = np.sort([np.inf if number is None else float(number) for number in numbers])
    low, high = (ordered[round(share * (PILOTS - 1))] for share in RANGE)
    whole = needed(found.moments(), epsilon, power_wanted, seed=seed)
    return Number(whole, *(int(end) if np.isfinite(end) else None for end in (low, high)))


def needed(found: Moments, epsilon: float, wanted: float, *, seed: int = 1, draws: int = DRAWS) -> int | None:
    """Story-prompts with which the test passes as often as wanted; None where more would not mend it."""
    hopeless = float((found.mean < epsilon).mean()) < PASS
    if hopeless:
        return None
    number = fewest(lambda g: power(found, g, epsilon, seed=seed, draws=draws) >= wanted)
    return None if number is None else max(number, found.least)


def _root(covariance: Floats) -> Floats:
    """A square root of a covariance that may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)), dtype=np.float64)
