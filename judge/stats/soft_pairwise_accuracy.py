"""Does a judge separate the same systems as people do, and as surely? Never counts a coin toss as a right order.

Soft pairwise accuracy (Thompson, Mathur, Deutsch & Khayrallah 2024, arXiv 2409.09598): for every pair of systems the
p value of "the first is better" by a one-sided paired permutation test, once from the people's ratings and once from
the judge's; SPA is the mean over pairs of 1 - |p_people - p_judge|. Unlike the share of pairs in the right order it
gives little weight to pairs that people themselves cannot separate.

A permutation that reproduces the observed difference exactly counts one half (mid-p; Lancaster 1961), so that p(a, b)
+ p(b, a) = 1 and SPA does not depend on the order of the systems. Without such ties, which continuous scores hardly
have, it is the published statistic.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.stats.estimate import Estimate

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Signs = NDArray[np.int8]

_SAME = 1e-9
"""Sums of ratings closer than this are equal: means of repeats carry floating-point noise."""


@dataclass(frozen=True, slots=True, eq=False)
class SoftAccuracy:
    """SPA and what it is made of.

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


def sign_flips(story_prompts: int, permutations: int, rng: np.random.Generator) -> Signs:
    """Random signs, shape (permutations, story_prompts): one set serves people and every judge of a table."""
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
    p_judge, p_people = (
        _p(np.where(both, side[first] - side[second], 0.0), flips) if first.size else np.empty(0) for side in sides
    )
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


def _by_cell(
    judge: Floats, people: Floats, system: Codes, story_prompt: Codes, shape: tuple[int, int]
) -> tuple[Floats, Floats]:
    """Both sides as (systems, story-prompts), means of the stories that both rated; NaN = none."""
    keep = ~(np.isnan(judge) | np.isnan(people))
    place = (system * shape[1] + story_prompt)[keep]
    size = shape[0] * shape[1]
    count = np.bincount(place, minlength=size)
    sums = (np.bincount(place, weights=side[keep], minlength=size) for side in (judge, people))
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
