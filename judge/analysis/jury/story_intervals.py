"""Split conformal prediction intervals of a story's human rating around the jury's rating, with out-of-fold coverage.

In each turn, the jury rates one fold, and its errors on the next fold set the width of the interval. The jury and its
calibration are fitted on the remaining folds. The width is therefore not estimated on stories that the jury was fitted
on, and the coverage is not estimated on stories that set the width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.analysis.jury.nested_folds import split_ratings
from judge.analysis.jury.panel import Panel
from judge.analysis.options.table_options import JuryOptions
from judge.base.estimate import Estimate
from judge.stats.estimation import means
from judge.stats.estimation.power import clustered_proportion
from judge.stats.regression.conformal import reach

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class StoryInterval:
    """Prediction intervals of a story's human rating on one criterion.

    `level` is the intended coverage. `reach` is the half-width (mean over folds), and `coverage` the share of intervals
    that contain the human rating. `worst` is the system with the lowest coverage, `worst_coverage` its coverage.
    """

    level: float
    reach: Estimate
    coverage: Estimate
    worst: str | None
    worst_coverage: Estimate | None


def story_interval(
    panel: Panel, options: JuryOptions, level: float, story_prompt: Codes, system: Codes, systems: Sequence[str]
) -> StoryInterval:
    """Prediction intervals of held-out stories' human ratings on one criterion, over all foldings, and their coverage.

    A folding is an assignment of stories to folds. `level` is the intended coverage. `story_prompt` and `system` are
    the codes of each story, shape (n stories,).
    """
    reaches: list[float] = []
    held, seen = np.zeros(panel.people.size), np.zeros(panel.people.size)
    for turn in split_ratings(panel, options):
        width = reach(
            np.abs(panel.people[turn.calibration] - turn.on_calibration), story_prompt[turn.calibration], level
        )
        reaches.append(width)
        off = np.abs(panel.people[turn.test] - turn.on_test)
        rated = ~np.isnan(off)
        held[turn.test[rated]] += off[rated] <= width + 1e-9
        seen[turn.test[rated]] += 1
    if not reaches or not seen.any():
        nothing = Estimate.undefined("too few story-prompts to fit, calibrate and test apart")
        return StoryInterval(level, nothing, nothing, None, None)
    if not np.isfinite(reaches).all():
        few = f"no interval: a fold has too few story-prompts for a level of {level:g}"
        return StoryInterval(level, Estimate.undefined(few), Estimate.undefined(few), None, None)
    hits = np.where(seen > 0, held / np.maximum(seen, 1), np.nan)
    coverage = means.clustered(hits, story_prompt, bounds=means.SHARE)
    shares = {code: hits[system == code] for code in range(len(systems))}
    known_shares = {code: float(np.nanmean(share)) for code, share in shares.items() if (~np.isnan(share)).any()}
    worst = min(known_shares, key=lambda code: known_shares[code], default=None)
    return StoryInterval(
        level,
        Estimate(float(np.mean(reaches)), n=int((seen > 0).sum())),
        coverage,
        None if worst is None else systems[worst],
        None if worst is None else _share(hits, system == worst, story_prompt),
    )


def _share(hits: Floats, own: NDArray[np.bool_], story_prompt: Codes) -> Estimate:
    return clustered_proportion(np.where(own, hits, np.nan), story_prompt)
