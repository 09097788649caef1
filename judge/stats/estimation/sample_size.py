"""Sample size: the number of story-prompts that an interval, test or equivalence test needs, from a pilot.

A smooth statistic of stories clustered by story-prompt (a tau-b, or a difference of two tau-b) has standard error s /
sqrt(G) over G story-prompts, where s, the *spread*, is the standard deviation of the story-prompts' jackknife
pseudo-values (Efron & Tibshirani 1993, chapter 11). With Student's t of G - 1 degrees of freedom

- the half-width of the 95 % interval is t(.975) s / sqrt(G);
- a test detects a difference d with the wanted power where d >= (t(.975) + t(power)) s / sqrt(G) (Bloom 1995,
  Evaluation Review 19; `power.minimum_detectable_effect`);
- two one-sided tests show a difference d to lie within a margin m where m - |d| >= (t(.95) + t(power)) s /
  sqrt(G). With d = 0 both tests can fail, and t(1 - (1 - power) / 2) takes the place of t(power) (Chow, Shao &
  Wang 2008, Sample Size Calculations in Clinical Research, section 3.2.3).

The estimate of s² from a pilot of G story-prompts has the sampling variance (k / G - (G - 3) / (G (G - 1))) s⁴, where k
is the kurtosis of the pseudo-values (Mood, Graybill & Boes 1974, chapter VI, theorem 2). Each number of story-prompts
is given with a range, which comes from the limits of s: s² is taken to follow a scaled chi-squared distribution with
that variance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]

# No number of story-prompts beyond this is given.
MOST = 100_000

# With fewer story-prompts there are no intervals.
FEWEST = 5

# What a range leaves out below and above.
RANGE = (0.1, 0.9)


@dataclass(frozen=True, slots=True)
class Spread:
    """Spread of a statistic over story-prompts, estimated in a pilot; it gives the standard error for any number of
    story-prompts.

    Attributes
    ----------
    value : float
        Standard deviation of the story-prompts' jackknife pseudo-values. The standard error of the statistic
        over G story-prompts is value / sqrt(G).
    df : float
        Degrees of freedom of the chi-squared distribution that describes the sampling error of value²; infinite
        where value² counts as known.
    clusters : int
        Number of story-prompts in the pilot.
    effective : float
        Degrees of freedom of a test that uses this spread: the number of story-prompts minus 1, or fewer if a
        few story-prompts carry most of the variance (`resampling.cluster_jackknife`). Two judges were simulated
        whose true taus differ by exactly the margin, with 96 story-prompts. An equivalence test at level 5 %
        with 95 degrees of freedom found them equivalent in 5.5 % of the studies, and with these degrees of
        freedom in 5.0 %.
    skew : float
        Skewness of the pseudo-values divided by the square root of their number. The error in the level of a
        one-sided test is of this order.
    """

    value: float
    df: float
    clusters: int
    effective: float = math.inf
    skew: float = 0.0

    @property
    def error(self) -> float:
        """Standard error of the statistic over the story-prompts of the pilot."""
        return self.value / math.sqrt(self.clusters)

    def at(self, share: float) -> float:
        """The value below which the true spread lies with probability `share`, given the spread estimated in the pilot.
        It comes from a chi-squared distribution with `df` degrees of freedom.

        Parameters
        ----------
        share : float
            Probability of the quantile, 0 to 1.
        """
        if math.isinf(self.df):
            return self.value
        return self.value * math.sqrt(self.df / float(special.chdtri(self.df, share)))


@dataclass(frozen=True, slots=True)
class Number:
    """Number of story-prompts (or of other units) that a study needs: estimate and its 10 % and 90 % limits.

    None in a field = larger than any number tried.
    """

    value: int | None
    low: int | None
    high: int | None

    @property
    def range(self) -> str:
        """The range between the 10 % and 90 % limits as text. ∞ stands for a limit above `MOST`, the largest number of
        story-prompts tried.
        """
        low, high = ("∞" if end is None else f"{end:,}" for end in (self.low, self.high))
        return low if low == high else f"{low}-{high}"


def spread(left_out: Floats) -> Spread | None:
    """The spread of a statistic, from its jackknife over story-prompts.

    Parameters
    ----------
    left_out : array, shape (G,)
        The statistic recomputed without each story-prompt in turn; NaN = undefined without that story-prompt.

    Returns
    -------
    Spread or None
        None with fewer than 5 story-prompts, where `left_out` holds NaN, and where its values do not vary.
    """
    clusters = left_out.size
    if clusters < FEWEST or not np.isfinite(left_out).all():
        return None
    deviation = left_out - left_out.mean()
    square = float(deviation @ deviation)
    if square < 1e-18:
        return None
    kurtosis = float((deviation**4).mean() / (square / clusters) ** 2)
    relative = kurtosis / clusters - (clusters - 3) / (clusters * (clusters - 1))
    freedom = 2 / relative if relative > 0 else math.inf
    effective = min(clusters / kurtosis, clusters - 1.0)
    # A statistic is low without a story-prompt that raises it: pseudo-values have the other sign.
    skew = float(-(deviation**3).mean() / (square / clusters) ** 1.5) / math.sqrt(clusters)
    return Spread(math.sqrt((clusters - 1) * square), freedom, clusters, effective, skew)


def half_width(spread: Spread, clusters: int, *, confidence: float = 0.95) -> float:
    """Half-width of the confidence interval with the given number of story-prompts, in the unit of the statistic.

    Parameters
    ----------
    spread : Spread
        Spread of the statistic, from a pilot.
    clusters : int
        Number of story-prompts, at least 2.
    confidence : float
        Coverage of the interval, 0 to 1.
    """
    return _t(clusters, 0.5 + confidence / 2) * spread.value / math.sqrt(clusters)


def for_half_width(spread: Spread, half_width: float, *, confidence: float = 0.95) -> Number:
    """Number of story-prompts that makes the half-width of the confidence interval small enough.

    Parameters
    ----------
    spread : Spread
        Spread of the statistic, from a pilot.
    half_width : float
        Largest acceptable half-width, in the unit of the statistic.
    confidence : float
        Coverage of the interval, 0 to 1.

    Returns
    -------
    Number
        The number of story-prompts with its 10 to 90 % range; a field is None where it is above `MOST`, the
        largest number tried. Formulas: see the module.
    """
    return _ranged(spread, lambda s: fewest(lambda g: _t(g, 0.5 + confidence / 2) * s / math.sqrt(g) <= half_width))


def for_difference(spread: Spread, difference: float, *, power: float = 0.8, alpha: float = 0.05) -> Number:
    """Number of story-prompts for which a two-sided test detects a true difference with the wanted power.

    Parameters
    ----------
    spread : Spread
        Spread of the difference, from a pilot.
    difference : float
        The true difference, in the unit of the statistic.
    power, alpha : float
        Wanted power, and level of the test; between 0 and 1.

    Returns
    -------
    Number
        The number of story-prompts with its 10 to 90 % range (Bloom 1995; formulas: see the module). A field is
        None where it is above `MOST`, the largest number tried.

    Raises
    ------
    ValueError
        `alpha` or `power` is outside 0 to 1, or `power` is not above alpha / 2.
    """
    if not (0 < alpha < 1 and alpha / 2 < power < 1):
        raise ValueError(f"alpha {alpha:g} and power {power:g} must lie between 0 and 1, power above alpha / 2")

    def enough(s: float, g: int) -> bool:
        return (_t(g, 1 - alpha / 2) + _t(g, power)) * s / math.sqrt(g) <= abs(difference)

    return _ranged(spread, lambda s: fewest(lambda g: enough(s, g)))


def for_equivalence(
    spread: Spread, difference: float, margin: float, *, power: float = 0.8, alpha: float = 0.05
) -> Number:
    """Number of story-prompts needed to show, with the wanted power, whether a true difference lies inside or outside
    the margin.

    Parameters
    ----------
    spread : Spread
        Spread of the difference, from a pilot.
    difference, margin : float
        The true difference and the largest difference that does not matter, in the unit of the statistic. For a
        difference inside the margin, two one-sided tests must show that it lies inside. For a difference
        outside, one one-sided test must show that it lies outside.
    power : float
        Wanted probability of a decision, 0 to 1.
    alpha : float
        Level of each one-sided test.

    Returns
    -------
    Number
        The number of story-prompts with its 10 to 90 % range. Its fields are None where the difference equals
        the margin, because then no number of story-prompts suffices. Formulas: see the module.
    """
    room = abs(margin - abs(difference))
    inside = abs(difference) < margin

    def enough(s: float, g: int) -> bool:
        error = s / math.sqrt(g)
        if inside:
            return tost_power(difference, error, margin, g - 1, alpha=alpha) >= power
        return (_t(g, 1 - alpha) + _t(g, power)) * error <= room

    return _ranged(spread, lambda s: fewest(lambda g: enough(s, g)))


def tost_power(difference: float, error: float, margin: float, df: int, *, alpha: float = 0.05) -> float:
    """Approximate power of two one-sided t tests to show that a difference lies within the margin.

    Parameters
    ----------
    difference, error : float
        True difference and its standard error, in the unit of the statistic.
    margin : float
        The largest difference that does not matter.
    df : int
        Degrees of freedom of the standard error.
    alpha : float
        Level of each test.

    Returns
    -------
    float
        Power, 0 to 1, approximated by a t distribution centred at the true difference (Chow, Shao & Wang 2008,
        section 3.2.3).
    """
    critical = float(special.stdtrit(df, 1 - alpha))
    above, below = ((margin - sign * difference) / error - critical for sign in (1, -1))
    return max(0.0, float(special.stdtr(df, above) + special.stdtr(df, below) - 1))


def fewest(enough: Callable[[int], bool]) -> int | None:
    """The smallest whole number, from 5 to `MOST` (the largest number tried), for which `enough` is true; None where
    there is none.

    Parameters
    ----------
    enough : callable
        Function from a number to whether it is large enough. It must be monotone: if it is true for a number,
        it is true for every larger number.
    """
    high = FEWEST
    while not enough(high):
        if high >= MOST:
            return None
        high = min(2 * high, MOST)
    low = max(FEWEST - 1, high // 2)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _ranged(pilot: Spread, number: Callable[[float], int | None]) -> Number:
    # A small s² goes with a large chi-squared: the 10 % end is at its upper tail, which chdtri takes.
    return Number(number(pilot.value), number(pilot.at(RANGE[0])), number(pilot.at(RANGE[1])))


def _t(clusters: int, share: float) -> float:
    return float(special.stdtrit(clusters - 1, share))
