"""Soft pairwise accuracy: whether a judge separates the same systems as people, with the same certainty.

Soft pairwise accuracy (Thompson, Mathur, Deutsch & Khayrallah 2024, arXiv 2409.09598): for every pair of systems, a
one-sided paired permutation test gives the p value of "the first is better", once from human ratings and once from the
judge's ratings. SPA is the mean over pairs of 1 - |p_people - p_judge|. Unlike the share of pairs in the right order,
SPA gives little weight to pairs that human ratings do not separate either.

A permutation that reproduces the observed difference exactly counts one half (mid-p; Lancaster 1961), so that p(a, b) +
p(b, a) = 1 and SPA does not depend on the order of the systems. Without such ties, which are rare with continuous
scores, it equals the published statistic.

The SPA of an uninformed judge is not 0: its p values are spread evenly, so that it lies between 50 and 75 %, depending
on how clearly human ratings separate the systems (`by_chance`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.base.arrays import Codes, Floats, ratio
from judge.base.estimate import Estimate

Signs = NDArray[np.int8]

# How many times ratings are dealt at random, in either way, for `by_chance`.
DEALT = 100

_CHANCE_FLIPS = 200
# Sums of flipped differences held at a time.
_CHUNK = 4_000_000

# Sums of ratings closer than this are equal: means of repeats carry floating-point noise.
_SAME = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class SoftAccuracy:
    """Soft pairwise accuracy (SPA) with the p values on which it is based.

    `estimate` counts pairs of systems in n; it has no interval, because the p values have no standard error. `people`
    and `judge` (systems, systems) are one-sided p, small where the row's system is better than the column's; NaN on the
    diagonal and where two systems share no story-prompt. `shared` counts story-prompts for which both systems have a
    story that both sides rated."""

    estimate: Estimate
    people: Floats
    judge: Floats
    shared: Codes


@dataclass(frozen=True, slots=True)
class Chance:
    """SPA to expect by chance: that of the judge's ratings when they are assigned to systems at random.

    `estimate` is the mean SPA over random assignments within each story-prompt (a judge of pure noise). `high` is the
    larger 95 % quantile of SPA: over these, and over permutations of whole systems (a judge that separates systems as
    clearly, in an order unrelated to that of people). None where SPA is undefined."""

    estimate: Estimate
    high: float | None


def sign_flips(story_prompts: int, permutations: int, rng: np.random.Generator) -> Signs:
    """Random signs for paired permutation tests, (`permutations`, `story_prompts`), from `rng`, seeded by the caller.

    The same signs should be used for the human ratings and for every judge of a table."""
    return (2 * rng.integers(0, 2, size=(permutations, story_prompts), dtype=np.int8) - 1).astype(np.int8)


def soft_pairwise_accuracy(
    judge: Floats, people: Floats, system: Codes, story_prompt: Codes, flips: Signs
) -> SoftAccuracy:
    """SPA of a judge's ratings against human ratings; undefined where no two systems share a story-prompt.

    `judge` and `people` (n,) are ratings; a story with a NaN on one side is left out on both. `system` and
    `story_prompt` (n,) hold codes from 0 on; several stories of a system for one story-prompt are averaged, and a pair
    of systems is compared on the story-prompts that both have. `flips` (permutations, story-prompts) are from
    `sign_flips`."""
    systems = int(system.max()) + 1 if system.size else 0
    first, second = np.triu_indices(systems, k=1)
    sides = _by_cell(judge, people, system, story_prompt, (systems, flips.shape[1]))
    both = ~(np.isnan(sides[0][first]) | np.isnan(sides[0][second]))
    shared = np.nan_to_num(_square(both.sum(axis=1).astype(np.float64), first, second, systems))
    p_judge, p_people = (_p(np.nan_to_num(_differences(side)), flips) if first.size else np.empty(0) for side in sides)
    has = both.any(axis=1)
    p_judge, p_people = (np.where(has, p, np.nan) for p in (p_judge, p_people))
    counts = (shared + shared.T).astype(np.int64)
    matrices = [_square(p, first, second, systems) for p in (p_people, p_judge)]
    people_p, judge_p = (np.where(np.isnan(m), 1 - m.T, m) for m in matrices)
    if not has.any():
        why = "fewer than 2 systems" if systems < 2 else "no two systems that share a story-prompt"
        return SoftAccuracy(Estimate.undefined(f"undefined with {why}"), people_p, judge_p, counts)
    value = float(1 - np.abs(p_people - p_judge)[has].mean())
    estimate = Estimate(value, n=int(has.sum()), method=f"{flips.shape[0]} permutations")
    return SoftAccuracy(estimate, people_p, judge_p, counts)


def by_chance(
    judge: Floats, people: Floats, system: Codes, story_prompt: Codes, flips: Signs, rng: np.random.Generator
) -> Chance:
    """SPA to expect by chance.

    `judge`, `people`, `system`, `story_prompt` and `flips` are as in `soft_pairwise_accuracy`. `rng`, seeded by the
    caller, assigns ratings to systems. Within story-prompts, p values use only the first 200 rows of `flips`: their
    error hardly changes the mean over random assignments."""
    accuracy = soft_pairwise_accuracy(judge, people, system, story_prompt, flips)
    if not accuracy.estimate.defined:
        return Chance(accuracy.estimate, None)
    x, _ = _by_cell(judge, people, system, story_prompt, (len(accuracy.judge), flips.shape[1]))
    pairs = np.triu_indices(len(x), k=1)
    noise = _spa(_p_of_dealings(_dealt(x, rng), flips[:_CHANCE_FLIPS]), accuracy.people[pairs])
    # Whole systems dealt anew: the same p, of other pairs.
    orders = [rng.permutation(len(x)) for _ in range(DEALT)]
    whole = _spa(np.stack([accuracy.judge[np.ix_(order, order)][pairs] for order in orders]), accuracy.people[pairs])
    high = max(float(np.nanquantile(spa, 0.95)) for spa in (noise, whole))
    return Chance(Estimate(float(noise.mean()), n=accuracy.estimate.n, method=f"{DEALT} dealings"), high)


def _spa(p_judge: Floats, p_people: Floats) -> Floats:
    """SPA of several judges from p (judges, pairs) and (pairs,); NaN for a judge without a pair that has both."""
    apart = np.abs(p_judge - p_people)
    defined = ~np.isnan(apart)
    return 1 - ratio(np.where(defined, apart, 0.0).sum(axis=1), defined.sum(axis=1))


def _dealt(x: Floats, rng: np.random.Generator) -> Floats:
    """`DEALT` assignments of ratings (systems, story-prompts), within each story-prompt to systems that have one."""
    missing = np.broadcast_to(np.isnan(x), (DEALT, *x.shape))
    order = np.argsort(np.where(missing, np.inf, rng.random(missing.shape)), axis=1)
    target = np.argsort(missing, axis=1, kind="stable")
    out = np.empty(missing.shape)
    np.put_along_axis(out, target, np.take_along_axis(np.broadcast_to(x, missing.shape), order, axis=1), axis=1)
    return out


def _p_of_dealings(dealt: Floats, flips: Signs) -> Floats:
    """p of every pair of systems in each assignment; NaN where two systems share no story-prompt."""
    pairs = dealt.shape[1] * (dealt.shape[1] - 1) // 2
    step = max(1, _CHUNK // max(1, len(flips) * pairs))
    parts = []
    for start in range(0, len(dealt), step):
        apart = np.concatenate([_differences(x) for x in dealt[start : start + step]])
        none = np.isnan(apart).all(axis=1)
        parts.append(np.where(none, np.nan, _p(np.nan_to_num(apart), flips)).reshape(-1, pairs))
    return np.concatenate(parts)


def _differences(side: Floats) -> Floats:
    """First minus second of every pair of systems, (pairs, story-prompts)."""
    first, second = np.triu_indices(len(side), k=1)
    return np.asarray(side[first] - side[second], dtype=np.float64)


def _by_cell(
    judge: Floats, people: Floats, system: Codes, story_prompt: Codes, shape: tuple[int, int]
) -> tuple[Floats, Floats]:
    """Both sides' means over the stories of a system for a story-prompt that both rated; NaN where there is none."""
    keep = ~(np.isnan(judge) | np.isnan(people))
    cell = (system * shape[1] + story_prompt)[keep]
    size = shape[0] * shape[1]
    count = np.bincount(cell, minlength=size)
    sums = (np.bincount(cell, weights=side[keep], minlength=size) for side in (judge, people))
    x, y = (ratio(total, count).reshape(shape) for total in sums)
    return x, y


def _p(differences: Floats, flips: Signs) -> Floats:
    """Mid-p of each pair of systems: the share of sign flips with a larger sum, an equal sum counting one half."""
    observed = differences.sum(axis=1)
    excess = flips.astype(np.float64) @ differences.T - observed
    reached = (excess > _SAME).mean(axis=0) + (np.abs(excess) <= _SAME).mean(axis=0) / 2
    return np.asarray(reached, dtype=np.float64)


def _square(values: Floats, first: Codes, second: Codes, systems: int) -> Floats:
    out = np.full((systems, systems), np.nan)
    out[first, second] = values
    return out
