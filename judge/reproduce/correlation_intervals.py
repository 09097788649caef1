"""The corrected correlations with intervals over story-prompts, all from one set of resamples. Never resamples systems.

The ten systems are taken as they are: whether it would hold for other systems is asked with `judge correlate --ci
boot-both`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judge.reproduce.cell import Place
from judge.reproduce.correlations import Level, Pair, layout, numbers, sides
from judge.reproduce.recipe import OURS
from judge.reproduce.scores import Floats, Scores
from judge.stats import kendall, resample
from judge.stats.estimate import Estimate

METHOD = "95 % over resampled story-prompts"


def estimates(scores: Scores, level: Level, resamples: int, seed: int) -> dict[Place, Estimate]:
    """Every corrected cell of a level, x100, with its percentile interval; without one where `resamples` is 0."""

    def count(pairs: Sequence[Pair]) -> int:
        return min(sides(*pair, level=level)[0].size for pair in pairs)

    def fewest(cells: Sequence[int]) -> int:
        return min(cells)

    counts = layout(level, scores, OURS, count, fewest)
    found: dict[Place, Estimate] = {}
    for place, value in numbers(scores, level, OURS).items():
        undefined = Estimate.undefined("undefined for a criterion", n=counts[place])
        found[place] = undefined if value is None else Estimate(value, n=counts[place])
    if not resamples:
        return found
    systems, prompts = scores.people("RE", OURS).shape
    unit = np.tile(np.arange(prompts), systems)
    drawn = resample.draw(unit, resamples, np.random.default_rng(seed), "boot-inputs")

    def resampled(pairs: Sequence[Pair]) -> Floats:
        return _mean([resampled_tau(x, y, level, drawn) for x, y in pairs])

    values = layout(level, scores, OURS, resampled, _mean)
    return {place: resample.percentile(estimate, values[place], METHOD) for place, estimate in found.items()}


def _mean(values: Sequence[Floats]) -> Floats:
    return np.asarray(np.mean(values, axis=0), dtype=np.float64)


def resampled_tau(x: Floats, y: Floats, level: Level, drawn: resample.Resamples) -> Floats:
    """100 x tau-b of arrays (systems, story-prompts) in each resample."""
    if level == "overall":
        return 100 * drawn.tau_b(kendall.codes(x.reshape(-1)), kendall.codes(y.reshape(-1)))
    known = ~(np.isnan(x) | np.isnan(y))
    counts = drawn.counts.astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        total = counts @ known.T
        means = (counts @ np.where(known, side, 0.0).T / total for side in (x, y))
        return 100 * kendall.tau_b_rows(*means)
