"""Bootstrap intervals from the values of a statistic in resamples: percentile, expanded percentile, and BCa.

Efron & Tibshirani 1993, An Introduction to the Bootstrap: chapter 13 (percentile), chapter 14 (BCa, of Efron 1987,
Better Bootstrap Confidence Intervals, JASA 82). BCa shifts the percentiles by a bias correction z0, from the share of
resampled values below the estimate, and by an acceleration a, from the skewness of the units' influence values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from judge.base.arrays import Floats
from judge.base.estimate import CONFIDENCE, Estimate
from judge.base.wording import Advice, Note

# Coverage of bootstrap intervals as measured in simulations, and warnings to users that follow from it.

Kind = Literal["expanded", "percentile", "bca", "calibrated percentile", "calibrated bca"]
Level = Literal["overall", "system"]

MEASURED: dict[tuple[str, int, Level], dict[Kind, float]] = {
    # draw, systems, level; 200 independent stories, else 40 story-prompts, 96 with boot-both and 10 systems
    ("boot-stories", 200, "overall"): {"percentile": 94.2, "bca": 94.3},
    ("boot-inputs", 10, "overall"): {"percentile": 93.9, "bca": 94.0},
    ("boot-inputs", 10, "system"): {"percentile": 98.8, "bca": 77.3},
    ("boot-systems", 40, "overall"): {"percentile": 93.3, "bca": 92.8, "expanded": 95.6},
    ("boot-systems", 40, "system"): {"percentile": 96.0, "bca": 96.1, "expanded": 96.9},
    ("boot-systems", 10, "overall"): {"percentile": 87.5, "bca": 85.6, "expanded": 91.9},
    ("boot-systems", 10, "system"): {"percentile": 95.6, "bca": 96.3, "expanded": 99.4},
    ("boot-both", 40, "overall"): {
        "percentile": 98.2,
        "bca": 98.0,
        "calibrated percentile": 94.0,
        "calibrated bca": 93.4,
    },
    ("boot-both", 40, "system"): {
        "percentile": 99.3,
        "bca": 93.8,
        "calibrated percentile": 98.6,
        "calibrated bca": 90.3,
    },
    ("boot-both", 10, "overall"): {
        "percentile": 96.4,
        "bca": 95.0,
        "calibrated percentile": 93.7,
        "calibrated bca": 92.3,
    },
    ("boot-both", 10, "system"): {
        "percentile": 99.8,
        "bca": 96.5,
        "calibrated percentile": 99.3,
        "calibrated bca": 95.6,
    },
}

SMALL_S = 10
# The measured coverage of boot-both with ten systems, for whoever reads an interval of so few.
SMALL_S_CAUTION = (
    "with 10 systems or fewer, intervals for new systems are rough; in simulated studies of 10 systems x 96 "
    "story-prompts 95 % intervals held the true tau-b in 96 % (percentile) or 95 % (BCa) over all stories; at system "
    "level in 99.8 % or 96.5 %, where they were .85 wide"
)

FIXED_SYSTEMS_CAUTION = (
    "BCa is far too narrow at system level where the systems are taken as they are; in simulated studies it held the "
    "true tau-b in 77 % instead of 95 %: use percentile intervals there"
)
WIDE_CAUTION = (
    "percentile intervals at system level are too wide where systems and story-prompts are drawn (in simulated studies "
    "they held the true tau-b in 99 % instead of 95 %); BCa held it in 94 to 97 %"
)


DEFAULTS: dict[tuple[Level, int], dict[str, float]] = {
    # level, story-prompts (of 10 systems, three people): of a judge with opinions of its own about systems
    ("overall", 6): {"kendall": 96.1, "spearman": 96.0, "pearson": 95.1},
    ("overall", 8): {"kendall": 95.7, "spearman": 95.5, "pearson": 94.4},
    ("overall", 12): {"kendall": 94.8, "spearman": 95.0, "pearson": 94.5},
    ("overall", 30): {"kendall": 94.0, "spearman": 94.3, "pearson": 94.0},
    ("overall", 96): {"kendall": 94.9, "spearman": 94.9, "pearson": 94.5},
    ("system", 6): {"kendall": 95.4, "spearman": 95.0, "pearson": 94.6},
    ("system", 8): {"kendall": 95.3, "spearman": 94.7, "pearson": 94.8},
    ("system", 12): {"kendall": 96.3, "spearman": 95.4, "pearson": 95.2},
    ("system", 30): {"kendall": 96.0, "spearman": 95.2, "pearson": 94.8},
    ("system", 96): {"kendall": 96.0, "spearman": 95.0, "pearson": 93.5},
}

# Too narrow with few story-prompts; over all stories, and with more, differences are held as single values are.
LEADS: dict[int, dict[str, float]] = {
    # story-prompts: of the difference of two judges at system level, one of them one more person
    6: {"kendall": 89.8, "spearman": 90.4, "pearson": 90.3},
    8: {"kendall": 88.6, "spearman": 89.6, "pearson": 89.6},
    12: {"kendall": 92.3, "spearman": 93.3, "pearson": 92.5},
}

# With 4 story-prompts and 7 stories of each of 10 systems for each, where stories are drawn; 200 studies.
STORIES_FOR_FEW: dict[Level, dict[str, float]] = {
    "overall": {"kendall": 86.0, "spearman": 84.5, "pearson": 86.5},
    "system": {"kendall": 96.5, "spearman": 96.5, "pearson": 95.0},
}

# With fewer units of what is drawn, a table says what its intervals were worth with as few.
FEW = 30


def few_story_prompts(dataset: str, story_prompts: int, level: str) -> str:
    """Warning that `dataset` has few `story_prompts`, so that stories are resampled and intervals can be too narrow.

    `level` is ``system`` for a correlation over system means; any other counts as over all stories."""
    held = _range(STORIES_FOR_FEW[_level(level)])
    return (
        f"{dataset}: only {story_prompts} story-prompts, too few to draw: stories are drawn instead, as if they were "
        "independent; intervals are too narrow where story-prompts matter (in simulated studies of 4 story-prompts "
        f"95 % intervals held the true value in {held} %)"
    )


def cautions(draw: str, method: str, level: str, units: int) -> tuple[str, ...]:
    """Warnings about a bootstrap interval of tau-b, based on the coverage that such intervals had in simulations.

    `draw` names the resampling design, e.g. ``boot-both``. `method` is ``expanded``, ``true-means``, ``percentile``,
    ``bca`` or ``calibrated``. `level` is as in `few_story_prompts`. `units` counts what is drawn (such as
    story-prompts), or systems where systems and story-prompts both are."""
    sentences = []
    fixed = draw in ("boot-inputs", "boot-stories")
    if level == "system" and draw == "boot-both" and method == "percentile":
        sentences.append(WIDE_CAUTION)
    if level == "system" and fixed and method == "bca":
        sentences.append(FIXED_SYSTEMS_CAUTION)
    if draw == "boot-both" and units <= SMALL_S:
        sentences.append(SMALL_S_CAUTION)
    if draw == "boot-systems" and units < FEW:
        sentences.append(_few_systems(_level(level), method, units))
    if draw == "boot-inputs" and units < FEW:
        sentences.append(_few(_level(level), method, units))
    return tuple(sentences)


def _few(level: Level, method: str, units: int) -> str:
    """Warning of few story-prompts, with the coverage simulated for the nearest smaller number (or the smallest)."""
    sizes = sorted(size for measured_level, size in DEFAULTS if measured_level == level)
    near = max((size for size in sizes if size <= units), default=sizes[0])
    warning = f"only {units} story-prompts: "
    if method not in ("expanded", "true-means"):
        narrow = f"{warning}{method} intervals are too narrow with fewer than {FEW}"
        return Note(narrow, Advice("{interval_kind} allows for that", interval_kind="auto"))
    held = f"{warning}in simulated studies with {near}, such 95 % intervals contained the true value in "
    held += f"{_range(DEFAULTS[level, near])} % of cases"
    return held if level != "system" else f"{held}, those of a difference of two judges in {_range(LEADS[near])} %"


def _few_systems(level: Level, method: str, units: int) -> str:
    measured = MEASURED["boot-systems", SMALL_S, level]
    kind: Kind = "bca" if method == "bca" else "percentile" if method == "percentile" else "expanded"
    return (
        f"only {units} systems: in simulated studies with {SMALL_S} systems, 95 % intervals for new systems contained "
        f"the true tau-b in {measured[kind]:g} % of cases"
    )


def _range(measured: dict[str, float]) -> str:
    """Lowest to highest measured coverage, in whole per cent."""
    low, high = (f"{end(measured.values()):.0f}" for end in (min, max))
    return low if low == high else f"{low} to {high}"


def _level(level: str) -> Level:
    return "system" if level == "system" else "overall"


# Above this share of resamples in which the statistic is undefined, no interval is given.
DEGENERATE = 0.05

_SAME = 1e-12


def percentile(estimate: Estimate, values: Floats, method: str) -> Estimate:
    """The `estimate` with a percentile 95 % interval (Efron & Tibshirani 1993, chapter 13).

    An undefined estimate is returned unchanged. `values` (b,) are the statistic in each resample; NaN = undefined, left
    out and counted in the result's method. Above 5 % of them there is no interval, but a reason. `method` describes the
    interval, e.g. ``"boot-inputs, percentile, 95 %"``."""
    defined, refused = _usable(estimate, values)
    if refused is not None:
        return refused
    tail = (1 - CONFIDENCE) / 2
    return _with_ends(estimate, values, defined, (tail, 1 - tail), method)


def expanded(
    estimate: Estimate, values: Floats, units: int, method: str, *, confidence: float = CONFIDENCE
) -> Estimate:
    """The `estimate` with an expanded percentile interval of `confidence`, wide enough where few units are drawn.

    `values` (b,) and `method` are as in `percentile`; `units` (such as story-prompts) were drawn. The percentile
    interval of a mean of m units is too short: its standard error is too small by the factor sqrt((m - 1) / m), and it
    corresponds to normal quantiles instead of those of t. The tail probability of a 95 % interval is therefore
    Phi(-sqrt(m / (m - 1)) t(m - 1)) instead of 2.5 %: 0.2 % with 6 units, and 2.3 % with 96 units (Hesterberg 2015,
    What teachers should know about the bootstrap, The American Statistician 69). It is extended if it does not contain
    its estimate (`holding`). One unit gives no interval, but a reason."""
    from scipy.special import ndtr, stdtrit

    defined, refused = _usable(estimate, values)
    if refused is not None:
        return refused
    if units < 2:
        return estimate.without_interval("one unit to resample")
    reach = float(stdtrit(units - 1, 0.5 + confidence / 2)) * np.sqrt(units / (units - 1))
    tail = float(ndtr(-reach))
    return holding(_with_ends(estimate, values, defined, (tail, 1 - tail), method))


def p_above_zero(estimate: Estimate, values: Floats, units: int) -> float | None:
    """One-sided p value of the hypothesis that a statistic is 0 or less, from its bootstrap standard error.

    The `estimate` is divided by the standard deviation of `values` (b,) in resamples, times sqrt(m / (m - 1)) for m
    `units`, and set against Student's t with m - 1 degrees of freedom: the counterpart of `expanded` where resampled
    values are normal. Unlike a share of resampled values it has no lowest value, so that it can be adjusted for many
    hypotheses. None where `expanded` gives no interval, and where all values are equal."""
    from scipy.special import stdtr

    defined, refused = _usable(estimate, values)
    if refused is not None or units < 2 or estimate.value is None:
        return None
    error = float(defined.std(ddof=1)) * np.sqrt(units / (units - 1)) if defined.size > 1 else 0.0
    return float(stdtr(units - 1, -estimate.value / error)) if error > _SAME else None


def holding(estimate: Estimate) -> Estimate:
    """The `estimate`, its interval extended as far as its value where it does not contain it, and `method` says so."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return estimate
    low, high = min(estimate.low, estimate.value), max(estimate.high, estimate.value)
    if (low, high) == (estimate.low, estimate.high):
        return estimate
    moved = max(estimate.low - low, high - estimate.high) > _SAME
    method = f"{estimate.method}, extended to its estimate" if moved else estimate.method
    return replace(estimate, low=low, high=high, method=method)


def bca(estimate: Estimate, values: Floats, jackknife: Sequence[Floats], method: str) -> Estimate:
    """The `estimate` with a bias-corrected and accelerated (BCa) 95 % interval.

    `values` (b,) and `method` are as in `percentile`. `jackknife` holds, for each kind of units drawn (such as
    story-prompts), the statistic without each unit in turn (`Resamples.jackknife`); see `acceleration`. No interval,
    but a reason, where more than 5 % of the values or of the jackknife values are undefined, and where all values lie
    on one side of the estimate, so that no bias correction exists."""
    from scipy.special import ndtr, ndtri

    usable, refused = _usable(estimate, values)
    if refused is not None or estimate.value is None:
        return refused or estimate
    for without in jackknife:
        lost = int(np.isnan(without).sum())
        if lost > DEGENERATE * without.size:
            why = f"no BCa interval: undefined without {lost} of {without.size} units"
            return replace(estimate, reason=why)
    below = float((usable < estimate.value - _SAME).mean())
    up_to = float((usable <= estimate.value + _SAME).mean())
    share = (below + up_to) / 2
    if share in (0.0, 1.0):
        why = "no BCa interval: all resampled values lie on one side of the estimate"
        return replace(estimate, reason=why)
    z0, a = float(ndtri(share)), acceleration(jackknife)
    z = float(ndtri(0.5 + CONFIDENCE / 2))
    tails = []
    for end in (z0 - z, z0 + z):
        scale = 1 - a * end
        tails.append(float(ndtr(z0 + end / scale)) if scale > 0 else float(end > 0))
    return _with_ends(estimate, values, usable, (tails[0], tails[1]), method)


def acceleration(jackknife: Sequence[Floats]) -> float:
    """Acceleration constant of the BCa interval, where one or more kinds of units (factors) are drawn independently.

    `jackknife` holds, for each factor, the statistic without each of its units in turn; NaN is left out. With influence
    values l = (m - 1)(mean - value without the unit) for the m units of each factor,

        a = sum over factors of sum(l**3) / m**3  /  (6 (sum over factors of sum(l**2) / m**2) ** 1.5),

    which for one factor is Efron & Tibshirani 1993, equation 14.15, and for several independent samples that of Davison
    & Hinkley 1997, Bootstrap Methods and their Application, section 5.3. To first order, a statistic of crossed factors
    changes by the sum of the systems' and the story-prompts' influence values, as for two independent samples. The
    interaction, of the order of 1 / (systems x story-prompts), is neglected. 0 where no unit has any influence."""
    cubes = squares = 0.0
    for without in jackknife:
        defined = without[~np.isnan(without)]
        influence = (defined.size - 1) * (defined.mean() - defined) if defined.size else defined
        influence = np.where(np.abs(influence) < _SAME * defined.size, 0.0, influence)
        cubes += float((influence**3).sum()) / max(1, defined.size) ** 3
        squares += float((influence**2).sum()) / max(1, defined.size) ** 2
    return cubes / (6 * squares**1.5) if squares > 0 else 0.0


def calibrated(values: Floats, one_way: Sequence[Floats], units: Sequence[int]) -> Floats:
    """Values in resamples of both systems and story-prompts, shrunk to the variance that new data would show.

    `values` (b,) are from resamples of both factors, `one_way` two arrays (b,) from resamples of each factor drawn
    alone (`Resamples.one_way`), and `units` the numbers of units of each. The result goes to `percentile` or `bca`.

    Where both are drawn (BOOT-BOTH), the weight of a story is the product of two counts. The variance of this product
    is 3 where that of one count is 1, so that BOOT-BOTH intervals are too wide where stories vary much. Let A, B and E
    be the variances of systems, story-prompts and the remainder. The variance of a mean is A/S + B/P + E/SP for S
    systems and P story-prompts. BOOT-BOTH gives A/S + B/P + 3E/SP (Owen 2007, The pigeonhole bootstrap, Annals of
    Applied Statistics 1), and drawing one factor alone gives A/S + E/SP or B/P + E/SP. Let V be the variance over the
    resamples of one of these three kinds. The variance is then estimated by

        2 (V systems alone + V story-prompts alone) - V both, but at least the larger one of the two V alone.

    Each value's distance from the mean of the values is multiplied by a factor of at most 1. It is the square root of
    the ratio of this estimate to V both, times a correction for few units: sqrt(m / (m - 1)) times the ratio of the
    97.5 % quantiles of t with m - 1 degrees of freedom and of the normal distribution, where m is the smaller number of
    units (as for two-way clustered variances: Cameron, Gelbach & Miller 2011, JBES 29)."""
    from scipy.special import ndtri, stdtrit

    first, second = (float(np.nanvar(alone)) if not np.isnan(alone).all() else np.nan for alone in one_way)
    together = float(np.nanvar(values)) if not np.isnan(values).all() else np.nan
    if not together > 0 or np.isnan(first + second):
        return values
    m = min(units)
    allowance = float(stdtrit(m - 1, 0.975) / ndtri(0.975)) * np.sqrt(m / (m - 1))
    ratio = max(2 * (first + second) - together, first, second) / together
    centre = float(np.nanmean(values))
    return np.asarray(centre + min(1.0, np.sqrt(ratio) * allowance) * (values - centre), dtype=np.float64)


def _usable(estimate: Estimate, values: Floats) -> tuple[Floats, Estimate | None]:
    """The defined values, and None; or, where no interval can be computed from them, the estimate to return."""
    if not estimate.defined:
        return values, estimate
    defined = values[~np.isnan(values)]
    lost = values.size - defined.size
    if values.size == 0 or lost > DEGENERATE * values.size:
        return defined, estimate.without_interval(f"undefined in {lost} of {values.size} resamples")
    return defined, None


def _quantiles(values: Floats, shares: tuple[float, float]) -> list[float]:
    """Quantiles of complete values: those of `numpy.percentile`, to the last digit."""
    # `numpy.percentile` takes ten times as long for hundreds of values.
    ascending = np.sort(values)
    quantiles = []
    for share in shares:
        place = (100 * share / 100) * (ascending.size - 1)
        below = min(int(place), ascending.size - 2) if ascending.size > 1 else 0
        part, low, high = place - below, float(ascending[below]), float(ascending[min(below + 1, ascending.size - 1)])
        quantiles.append(high - (high - low) * (1 - part) if part >= 0.5 else low + (high - low) * part)
    return quantiles


def _with_ends(
    estimate: Estimate, values: Floats, defined: Floats, shares: tuple[float, float], method: str
) -> Estimate:
    low, high = _quantiles(defined, shares)
    lost = values.size - defined.size
    note = f", {lost} degenerate" if lost else ""
    return replace(estimate, low=float(low), high=float(high), method=f"{method}{note}")
