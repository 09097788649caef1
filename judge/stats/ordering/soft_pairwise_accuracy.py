"""Soft pairwise accuracy: whether a judge separates the same systems as people, with the same certainty.

Soft pairwise accuracy (Thompson, Mathur, Deutsch & Khayrallah 2024, arXiv 2409.09598): for every pair of systems the
p value of "the first is better" by a one-sided paired permutation test, once from the people's ratings and once from
the judge's; SPA is the mean over pairs of 1 - |p_people - p_judge|. Unlike the share of pairs in the right order it
gives little weight to pairs that people themselves cannot separate.

A permutation that reproduces the observed difference exactly counts one half (mid-p; Lancaster 1961), so that p(a, b)
+ p(b, a) = 1 and SPA does not depend on the order of the systems. Without such ties, which continuous scores hardly
have, it is the published statistic.

An uninformed judge does not get 0: its p lie anywhere, and SPA between 50 and 75 %, by how surely people tell
the systems apart. `by_chance` says what the same ratings get when dealt at random.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.stats.estimate import Estimate

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Signs = NDArray[np.int8]

DEALT = 100
"""How many times ratings are dealt at random, in either way, for `by_chance`."""

_CHANCE_FLIPS = 200
_CHUNK = 4_000_000
"""Sums of flipped differences held at a time."""

_SAME = 1e-9
"""Sums of ratings closer than this are equal: means of repeats carry floating-point noise."""


@dataclass(frozen=True, slots=True, eq=False)
class SoftAccuracy:
    """Soft pairwise accuracy (SPA) with the p values of both sides.

    Attributes
    ----------
    estimate : Estimate
        `n` counts pairs of systems. There is no interval: p values have no standard error of their own.
    people, judge : array, shape (systems, systems)
        p of "row is better than column"; NaN on the diagonal and where two systems share no story-prompt.
    shared : array of int, shape (systems, systems)
        Story-prompts that both systems have, rated by both sides.
    """

    estimate: Estimate
    people: Floats
    judge: Floats
    shared: Codes


@dataclass(frozen=True, slots=True)
class Chance:
    """SPA of the same ratings assigned to systems at random.

    Attributes
    ----------
    estimate : Estimate
        Mean SPA where, within each story-prompt, the judge's ratings are dealt to the systems at random: a judge of
        noise. `n` counts pairs of systems.
    high : float or None
        95 % of dealings lie at or below: of those, or of dealings of whole systems (a judge with opinions of systems,
        as sure as this one's, that have nothing to do with people's), whichever is higher.
    """

    estimate: Estimate
    high: float | None


def sign_flips(story_prompts: int, permutations: int, rng: np.random.Generator) -> Signs:
    """Random signs, shape (permutations, story_prompts): one set serves people and every judge of a table.

    Parameters
    ----------
    story_prompts, permutations : int
        Their numbers.
    rng : numpy Generator
        Source of randomness; the caller's seed.
    """
    return (2 * rng.integers(0, 2, size=(permutations, story_prompts), dtype=np.int8) - 1).astype(np.int8)


def soft_pairwise_accuracy(
    judge: Floats, people: Floats, system: Codes, story_prompt: Codes, flips: Signs
) -> SoftAccuracy:
    """SPA of a judge against people.

    Parameters
    ----------
    judge, people : array, shape (n,)
        NaN = missing; a story with a missing side is left out on both.
    system, story_prompt : array of int, shape (n,)
        Codes 0..; several stories of a system for one story-prompt are averaged.
    flips : array of int, shape (permutations, story-prompts)
        As made by `sign_flips`.

    Returns
    -------
    SoftAccuracy
        A pair of systems is compared on the story-prompts that both have. Undefined with fewer than two systems, or
        where no two share a story-prompt.
    """
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
    """SPA of the same ratings assigned to systems at random.

    The judge's p values come from the first 200 permutations: their error hardly changes a mean of distances over
    assignments.

    Parameters
    ----------
    judge, people, system, story_prompt, flips
        As for `soft_pairwise_accuracy`.
    rng : numpy Generator
        Source of the assignments; the caller's seed.

    Returns
    -------
    Chance
        Undefined where SPA is.
    """
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
    """SPA of each of several judges, from p (judges, pairs) and (pairs,); NaN where they share no pair."""
    apart = np.abs(p_judge - p_people)
    defined = ~np.isnan(apart)
    count = defined.sum(axis=1)
    total = np.where(defined, apart, 0.0).sum(axis=1)
    return np.asarray(np.where(count > 0, 1 - total / np.maximum(count, 1), np.nan), dtype=np.float64)


def _dealt(x: Floats, rng: np.random.Generator) -> Floats:
    """(DEALT, systems, story-prompts): each story-prompt's ratings dealt to the systems that have one there."""
    missing = np.broadcast_to(np.isnan(x), (DEALT, *x.shape))
    order = np.argsort(np.where(missing, np.inf, rng.random(missing.shape)), axis=1)
    target = np.argsort(missing, axis=1, kind="stable")
    out = np.empty(missing.shape)
    np.put_along_axis(out, target, np.take_along_axis(np.broadcast_to(x, missing.shape), order, axis=1), axis=1)
    return out


def _p_of_dealings(dealt: Floats, flips: Signs) -> Floats:
    """p of every pair of systems of each dealing, (dealings, pairs); NaN where a pair shares no story-prompt."""
    pairs = dealt.shape[1] * (dealt.shape[1] - 1) // 2
    step = max(1, _CHUNK // max(1, len(flips) * pairs))
    parts = []
    for start in range(0, len(dealt), step):
        apart = np.concatenate([_differences(x) for x in dealt[start : start + step]])
        none = np.isnan(apart).all(axis=1)
        parts.append(np.where(none, np.nan, _p(np.nan_to_num(apart), flips)).reshape(-1, pairs))
    return np.concatenate(parts)


def _differences(side: Floats) -> Floats:
    """First less second of every pair of systems, (pairs, story-prompts); NaN = missing on either."""
    first, second = np.triu_indices(len(side), k=1)
    return np.asarray(side[first] - side[second], dtype=np.float64)


def _by_cell(
    judge: Floats, people: Floats, system: Codes, story_prompt: Codes, shape: tuple[int, int]
) -> tuple[Floats, Floats]:
    """Both sides as (systems, story-prompts), means of the stories that both rated; NaN = none."""
    keep = ~(np.isnan(judge) | np.isnan(people))
    cell = (system * shape[1] + story_prompt)[keep]
    size = shape[0] * shape[1]
    count = np.bincount(cell, minlength=size)
    sums = (np.bincount(cell, weights=side[keep], minlength=size) for side in (judge, people))
    with np.errstate(invalid="ignore"):
        x, y = (np.where(count > 0, total / count, np.nan).reshape(shape) for total in sums)
    return x, y


def _p(differences: Floats, flips: Signs) -> Floats:
    """Mid-p of each row of (pairs, story-prompts): share of sign flips whose sum reaches the observed sum."""
    observed = differences.sum(axis=1)
    excess = flips.astype(np.float64) @ differences.T - observed
    reached = (excess > _SAME).mean(axis=0) + (np.abs(excess) <= _SAME).mean(axis=0) / 2
    return np.asarray(reached, dtype=np.float64)


def _square(values: Floats, first: Codes, second: Codes, systems: int) -> Floats:
    out = np.full((systems, systems), np.nan)
    out[first, second] = values
    return out
