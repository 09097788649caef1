"""Permutation tests whether one judge agrees with people more than another, by swapping the two judges' ratings.

PERM-BOTH, PERM-SYSTEMS and PERM-INPUTS of Deutsch, Dror & Roth 2021 (A Statistical Analysis of Summarization Evaluation
Metrics Using Resampling Methods, TACL 9, section 5): both judges' ratings are standardised, so that they can stand in
for each other; if they are exchangeable, swapping them for a story (PERM-BOTH), for all stories of a system
(PERM-SYSTEMS) or of a story-prompt (PERM-INPUTS) with probability 1/2 leaves the distribution of the difference of
correlations as it is. p = (1 + # as extreme) / (1 + swaps), which is never 0 (Phipson & Smyth 2010); where so few units
are swapped that there are no more patterns than swaps, every pattern is taken once and p is exact.

What is swapped decides what p speaks about: single stories take each story's difference for chance, so that a judge's
opinions of systems or of story-prompts, which all their stories share, count as evidence; to speak of new systems (or
story-prompts), swap systems (story-prompts).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judge.stats.correlation import coefficients, kendall
from judge.stats.resampling import swapped_tau

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Masks = NDArray[np.uint8]
Tail = Literal["two-sided", "greater"]

_SAME = 1e-12
_CHUNK = 2_000_000
"""Swaps of single stories held at a time."""

_MOST_EXACT = 20
"""Units whose every pattern of swaps may be taken: a million patterns."""


@dataclass(frozen=True, slots=True)
class SwapTest:
    """One comparison of two judges by Kendall's tau-b with people.

    Attributes
    ----------
    a, b, difference : float or None
        Both judges' tau-b on the stories that all three have, and a - b; None where undefined.
    p : float or None
        p value in the tail named, not adjusted for other comparisons.
    n : int
        Stories (level "overall") or systems that the correlations rest on.
    swaps : int
        Number of random swaps; where `exact`, of all patterns.
    degenerate : int
        Swaps after which a correlation was undefined; they count as extreme, so that p is rather too large.
    tail : str
        ``two-sided``, or ``greater``: a follows people better.
    reason : str or None
        Why there is no test.
    units : int
        How many units were swapped, each as a whole.
    exact : bool
        Whether every pattern of swaps was taken once.
    """

    a: float | None
    b: float | None
    p: float | None
    n: int
    swaps: int
    degenerate: int
    tail: Tail
    reason: str | None = None
    units: int = 0
    exact: bool = False

    @property
    def least(self) -> float | None:
        """The smallest possible p with these numbers of units and swaps; None without a test."""
        if self.p is None:
            return None
        patterns = 2.0 ** -(self.units - (self.tail == "two-sided"))
        return patterns if self.exact else max(patterns, 1 / (1 + self.swaps))

    @property
    def difference(self) -> float | None:
        """tau-b of judge a minus tau-b of judge b."""
        return None if self.a is None or self.b is None else self.a - self.b


def swap_test(
    a: Floats,
    b: Floats,
    people: Floats,
    unit: Codes,
    swaps: int,
    rng: np.random.Generator,
    *,
    group: Codes | None = None,
    tail: Tail = "two-sided",
) -> SwapTest:
    """Test the difference between two judges' tau-b with people by swapping the judges' ratings at random.

    Parameters
    ----------
    a, b, people : arrays, shape (n,)
        Ratings; NaN = missing. Only stories that all three have are used.
    unit : array of int, shape (n,)
        What is swapped as a whole: ``np.arange(n)`` for PERM-BOTH, systems for PERM-SYSTEMS, story-prompts for
        PERM-INPUTS.
    swaps : int
        Number of random swaps.
    rng : numpy Generator
        Source of randomness; the caller's seed.
    group : array of int, shape (n,), optional
        Systems: compare at system level, by tau-b over the means of standardised ratings; None = over all stories.
        Where systems are swapped as a whole it is their means that are standardised: a judge whose single ratings are
        noisier has means that lie closer together, and could not stand in for the other otherwise.
    tail : {"two-sided", "greater"}
        What the alternative is: that the two differ, or that tau-b of `a` is greater.

    Returns
    -------
    SwapTest
        Undefined with a reason where a correlation does not exist, or where it is undefined after more than 5 % of the
        swaps. Two equal vectors give p = 1.
    """
    keep = ~(np.isnan(a) | np.isnan(b) | np.isnan(people))
    a, b, people, unit = a[keep], b[keep], people[keep], unit[keep]
    for name, side in (("first judge's", a), ("second judge's", b)):
        reason = coefficients.undefined_reason(side, people, (f"the {name} ratings", "the people's ratings"), "stories")
        if reason:
            return SwapTest(None, None, None, a.size, 0, 0, tail, reason)
    if group is None:
        n, both = a.size, swapped_tau.overall(_standardised(a), _standardised(b), kendall.codes(people))
    else:
        systems = np.unique(group[keep], return_inverse=True)[1].reshape(-1)
        n, whole = int(systems.max()) + 1, np.unique(np.stack([unit, systems]), axis=1).shape[1]
        a, b = (_standardised(side, systems if whole == n else None) for side in (a, b))
        both = swapped_tau.over_means(a, b, people, systems)
    return _test(both, unit, swaps, rng, tail, n)


def _test(
    both: Callable[[Masks], tuple[Floats, Floats]],
    unit: Codes,
    swaps: int,
    rng: np.random.Generator,
    tail: Tail,
    n: int,
) -> SwapTest:
    (tau_a,), (tau_b,) = both(np.zeros((1, unit.size), dtype=np.uint8))
    if n < coefficients.MIN_PAIRS or np.isnan(tau_a) or np.isnan(tau_b):
        why = f"undefined with fewer than {coefficients.MIN_PAIRS} systems or with system means that are all equal"
        return SwapTest(None, None, None, n, 0, 0, tail, why)
    units = int(np.unique(unit).size)
    exact = units <= _MOST_EXACT and 2**units <= swaps
    swaps = 2**units if exact else swaps
    observed, extreme, degenerate = float(tau_a - tau_b), 0, 0
    for masks in _every_mask(unit) if exact else _masks(unit, swaps, rng):
        first, second = both(masks)
        moved = first - second
        lost = np.isnan(moved)
        distance = np.abs(moved) - abs(observed) if tail == "two-sided" else moved - observed
        # A swap that reproduces the observed difference is extreme, whatever the rounding of its last digits.
        extreme += int((lost | (distance >= -_SAME)).sum())
        degenerate += int(lost.sum())
    if degenerate > 0.05 * swaps:
        why = f"no p value: undefined after {degenerate} of {swaps} swaps"
        return SwapTest(float(tau_a), float(tau_b), None, n, swaps, degenerate, tail, why, units)
    # The full set of patterns contains the observed data; random swaps get it added, so that p is never 0.
    p = extreme / swaps if exact else (1 + extreme) / (1 + swaps)
    return SwapTest(float(tau_a), float(tau_b), p, n, swaps, degenerate, tail, units=units, exact=exact)


def _masks(unit: Codes, swaps: int, rng: np.random.Generator) -> Iterator[Masks]:
    """Masks of swapped stories (some swaps, n), all stories of a unit together, each unit with probability 1/2."""
    present, story = np.unique(unit, return_inverse=True)
    step = max(1, _CHUNK // max(1, unit.size))
    for start in range(0, swaps, step):
        bits = rng.integers(0, 256, size=(min(step, swaps - start), -(-present.size // 8)), dtype=np.uint8)
        yield np.unpackbits(bits, axis=1)[:, story.reshape(-1)]


def _every_mask(unit: Codes) -> Iterator[Masks]:
    """Every pattern of swaps once, the one without a swap first."""
    present, story = np.unique(unit, return_inverse=True)
    step = max(1, _CHUNK // max(1, unit.size))
    for start in range(0, 2**present.size, step):
        pattern = np.arange(start, min(start + step, 2**present.size))
        bits = ((pattern[:, None] >> np.arange(present.size)) & 1).astype(np.uint8)
        yield bits[:, story.reshape(-1)]


def _standardised(values: Floats, systems: Codes | None = None) -> Floats:
    """Ratings with mean 0 and spread 1; with `systems`, ratings whose means over systems have these."""
    scale = values if systems is None else np.bincount(systems, weights=values) / np.bincount(systems)
    spread = scale.std() if np.ptp(scale) > _SAME else 1.0
    return np.asarray((values - scale.mean()) / spread, dtype=np.float64)
