"""Power of the alternative annotator test (alt-test), and the number of story-prompts with which a judge passes.

For each person, a story-prompt contributes the sum over its stories of the differences d (see `alt_test`). The means of
d over G story-prompts are approximately normal, with the means of the pilot (the data at hand), and with the pilot's
covariance between people, divided by G. In each simulated study, means are drawn from this distribution, and standard
errors from their distribution with G - 1 degrees of freedom. Power is the share of studies in which the test over
story-prompts passes (Benjamini-Yekutieli over people, a win against at least half of them)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from judge.base.arrays import Codes, Floats, renumbered
from judge.stats.agreement.alt_test import LEVEL, MIN_STORIES, PASS
from judge.stats.estimation.sample_size import FEWEST, RANGE, Number, fewest

DRAWS = 2000
# Resamples of the pilot's story-prompts behind a range.
PILOTS = 200


@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """Pilot data of the alternative annotator test, (people, story-prompts): `sums` of d over stories, and `counts`.

    On each story, d is 1 if the person is closer to the other people, -1 if the judge is, and 0 for a tie."""

    sums: Floats
    counts: Floats

    @property
    def clusters(self) -> int:
        return int(self.sums.shape[1])

    def moments(self, weights: Floats | None = None) -> Moments:
        """Mean d of each person, and covariance, between people, of what one story-prompt contributes to it.

        `weights` (story-prompts,) is how often each occurs in a resample; None = once. A person without a story has
        mean 0."""
        w = np.ones(self.clusters) if weights is None else weights
        # A person without a story in a resample must not cause a division by 0.
        n = np.maximum(self.counts @ w, 1e-12)
        mean = (self.sums @ w) / n
        total = float(w.sum())
        # A ratio's influence: what each story-prompt's sum lies off the mean, over the mean number of stories.
        influence = (self.sums - mean[:, None] * self.counts) / (n / total)[:, None]
        each = float((self.counts.sum(axis=1) / self.clusters).min())
        return Moments(mean, (influence * w) @ influence.T / max(total - 1, 1.0), each)


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Moments of the differences d of the alternative annotator test, by person.

    `covariance` (people, people) is of what one story-prompt contributes to the means; divided by the number of
    story-prompts, it is that of the means. `stories_each` is the mean number of comparable stories per story-prompt,
    for the person with the fewest."""

    mean: Floats
    covariance: Floats
    stories_each: float

    @property
    def least(self) -> int:
        """Smallest number of story-prompts to plan with: each person needs 30 stories, and there must be at least 5."""
        return max(FEWEST, math.ceil(MIN_STORIES / max(self.stories_each, 1e-9)))


def differences(d: Floats, cluster: Codes) -> Differences:
    """Sums of `d` (n stories, r people; `alt_test.person_differences`) by person and story-prompt `cluster` (n,)."""
    code = renumbered(cluster)
    size = int(code.max(initial=-1)) + 1
    present = ~np.isnan(d)
    sums = [np.bincount(code, weights=np.where(present[:, j], d[:, j], 0.0), minlength=size) for j in range(d.shape[1])]
    counts = [np.bincount(code, weights=present[:, j].astype(np.float64), minlength=size) for j in range(d.shape[1])]
    return Differences(np.array(sums), np.array(counts))


def power(moments: Moments, clusters: int, epsilon: float, *, seed: int = 1, draws: int = DRAWS) -> float:
    """Share of `draws` simulated studies of `clusters` story-prompts, like those of `moments`, that the judge passes.

    `epsilon`, 0 to 1, is the advantage that a person is allowed to have; `seed` is that of the studies."""
    rng = np.random.default_rng(seed)
    people = moments.mean.size
    root = _root(moments.covariance)
    means = moments.mean + rng.standard_normal((draws, people)) @ root.T / np.sqrt(clusters)
    df = clusters - 1
    scatter = np.sqrt(rng.chisquare(df, (draws, people)) / df)
    # Without any spread the mean alone decides, as in `alt_test`.
    error = np.maximum(np.sqrt(np.diag(moments.covariance) / clusters) * scatter, 1e-12)
    p = np.sort(special.stdtr(df, (means - epsilon) / error), axis=1)
    rank = np.arange(1, people + 1)
    below = p <= LEVEL * rank / (people * float((1 / rank).sum()))
    beaten = np.where(below.any(axis=1), people - below[:, ::-1].argmax(axis=1), 0)
    return float((beaten >= PASS * people).mean())


def story_prompts(pilot: Differences, epsilon: float, *, power_wanted: float = 0.8, seed: int = 1) -> Number:
    """Number of story-prompts with which the test has `power_wanted`, and its 10 to 90 % range over resampled pilots.

    `pilot` is the data at hand; `epsilon` and `seed` are as in `power`. None where even the largest number is too
    small: a judge that is not closer to the others than a person (allowing for epsilon) does not pass with any number
    of stories."""
    rng = np.random.default_rng(seed)
    weights = rng.multinomial(pilot.clusters, np.full(pilot.clusters, 1 / pilot.clusters), size=PILOTS)
    numbers = [
        needed(pilot.moments(w.astype(np.float64)), epsilon, power_wanted, seed=seed, draws=400) for w in weights
    ]
    ordered = np.sort([np.inf if number is None else float(number) for number in numbers])
    low, high = (ordered[round(share * (PILOTS - 1))] for share in RANGE)
    whole = needed(pilot.moments(), epsilon, power_wanted, seed=seed)
    return Number(whole, *(int(end) if np.isfinite(end) else None for end in (low, high)))


def needed(moments: Moments, epsilon: float, wanted: float, *, seed: int = 1, draws: int = DRAWS) -> int | None:
    """Number of story-prompts with which the test has the power `wanted`; None where no number has.

    `moments`, `epsilon`, `seed` and `draws` are as in `power`. It gives each person at least 30 stories."""
    hopeless = float((moments.mean < epsilon).mean()) < PASS
    if hopeless:
        return None
    number = fewest(lambda g: power(moments, g, epsilon, seed=seed, draws=draws) >= wanted)
    return None if number is None else max(number, moments.least)


def _root(covariance: Floats) -> Floats:
    """A square root of a covariance matrix that may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)), dtype=np.float64)
