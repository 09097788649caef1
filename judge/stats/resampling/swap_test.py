"""Permutation tests of whether one judge agrees with people more than another judge does, by swaps of the two judges'
ratings.

PERM-BOTH, PERM-SYSTEMS and PERM-INPUTS of Deutsch, Dror & Roth 2021 (A Statistical Analysis of Summarization Evaluation
Metrics Using Resampling Methods, TACL 9, section 5): both judges' ratings are standardised to a common scale. Under the
null hypothesis they are exchangeable, so the distribution of the difference of correlations does not change when the
two judges' ratings are swapped with probability 1/2 for each story (PERM-BOTH), for all stories of a system
(PERM-SYSTEMS) or of a story-prompt (PERM-INPUTS). p = (1 + number of swaps after which the difference is at least as
extreme as before) / (1 + swaps), which is never 0 (Phipson & Smyth 2010). If there are no more possible patterns of
swaps than `swaps`, every pattern is used once and p is exact.

The unit that is swapped decides to which population p generalises. Swaps of single stories treat the stories as
independent, so that a judge's preference for a system or story-prompt, which all its stories share, counts as evidence
in each of them. To generalise to new systems (or story-prompts), swap systems (or story-prompts).
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
    """Result of the permutation test that compares two judges by their Kendall's tau-b with human ratings.

    Attributes
    ----------
    a, b, difference : float or None
        Each judge's tau-b on the stories that both judges and people rated, and the difference a - b; None
        where undefined.
    p : float or None
        p value for the alternative `tail`, not adjusted for multiple comparisons. None without a test.
    n : int
        Number of stories or, for tau-b over system means, of systems over which the correlations are computed.
    swaps : int
        Number of random patterns of swaps; where `exact`, the number of all possible patterns.
    degenerate : int
        Number of patterns of swaps after which a correlation was undefined. They count as extreme, so that p is
        conservative.
    tail : str
        ``two-sided``, or ``greater`` for the alternative that tau-b of `a` is greater.
    reason : str or None
        Why there is no test; None with a test.
    units : int
        Number of units (stories, systems or story-prompts) that were swapped, each as a whole.
    exact : bool
        Whether every possible pattern of swaps was used once.
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
        """The smallest p that this test could have given with its numbers of units (such as story-prompts) and swaps;
        None without a test.
        """
        if self.p is None:
            return None
        patterns = 2.0 ** -(self.units - (self.tail == "two-sided"))
        return patterns if self.exact else max(patterns, 1 / (1 + self.swaps))

    @property
    def difference(self) -> float | None:
        """Kendall's tau-b of judge a with people minus that of judge b; None where either is undefined."""
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
    """Permutation test of the difference between two judges' tau-b with people, which swaps the two judges' ratings at
    random.

    Parameters
    ----------
    a, b, people : arrays, shape (n,)
        Ratings; NaN = missing. Only stories with all three ratings are used.
    unit : array of int, shape (n,)
        Unit of each story; all stories of a unit are swapped together. ``np.arange(n)`` for PERM-BOTH, systems for
        PERM-SYSTEMS, story-prompts for PERM-INPUTS.
    swaps : int
        Number of random swaps.
    rng : numpy Generator
        Random generator, seeded by the caller.
    group : array of int, shape (n,), optional
        System of each story, to compare the judges by tau-b over system means of standardised ratings; None = by
        tau-b over all stories. Where systems are swapped as a whole, their means are standardised instead of the
        single ratings, because the means of a noisier judge are closer together and would not be exchangeable with
        those of the other judge.
    tail : {"two-sided", "greater"}
        The alternative hypothesis: the two tau-b differ, or tau-b of `a` is greater.

    Returns
    -------
    SwapTest
        Without a test, but with a reason, where a correlation is undefined, or undefined after more than 5 % of the
        swaps. Two judges with equal ratings give p = 1.
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
    """Yield blocks of random patterns of swaps, arrays of shape (patterns in the block, n stories), 1 where the two
    judges' ratings of a story are swapped. All stories of a unit (such as a system) are swapped together, each unit
    with probability 1/2.
    """
    present, story = np.unique(unit, return_inverse=True)
    step = max(1, _CHUNK // max(1, unit.size))
    for start in range(0, swaps, step):
        bits = rng.integers(0, 256, size=(min(step, swaps - start), -(-present.size // 8)), dtype=np.uint8)
        yield np.unpackbits(bits, axis=1)[:, story.reshape(-1)]


def _every_mask(unit: Codes) -> Iterator[Masks]:
    """Yield every possible pattern of swaps once, in blocks of shape (patterns, n stories), 1 where the two judges'
    ratings of a story are swapped. The first pattern swaps nothing.
    """
    present, story = np.unique(unit, return_inverse=True)
    step = max(1, _CHUNK // max(1, unit.size))
    for start in range(0, 2**present.size, step):
        pattern = np.arange(start, min(start + step, 2**present.size))
        bits = ((pattern[:, None] >> np.arange(present.size)) & 1).astype(np.uint8)
        yield bits[:, story.reshape(-1)]


def _standardised(values: Floats, systems: Codes | None = None) -> Floats:
    """A judge's ratings, shifted and scaled to mean 0 and standard deviation 1. If `systems` (the system of each story)
    is given, they are scaled so that the means of systems have mean 0 and standard deviation 1.
    """
    scale = values if systems is None else np.bincount(systems, weights=values) / np.bincount(systems)
    spread = scale.std() if np.ptp(scale) > _SAME else 1.0
    return np.asarray((values - scale.mean()) / spread, dtype=np.float64)
