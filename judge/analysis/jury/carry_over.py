"""Tests whether a jury's calibration holds for each system.

A calibration makes ratings right on average over systems. It holds for a system if the mean rating is shown to differ
from the mean human rating by less than a margin, by two one-sided tests over story-prompts. It does not hold if the
difference is significant (Holm's method over the systems of a criterion). Otherwise neither is shown: lack of a
significant difference does not count as holding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judge.analysis.jury.nested_folds import Folding
from judge.analysis.jury.panel import Panel
from judge.base.estimate import Estimate
from judge.stats.estimation import means
from judge.stats.estimation.equivalence import Equivalence, tost_of
from judge.stats.estimation.multiplicity import adjust

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Holds = Literal["yes", "no", "not shown", "no test"]
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Carried:
    """Test of whether a jury's calibration holds for one system.

    `before` and `after` are the jury's mean rating minus the mean human rating, before and after calibration. `p` tests
    that the difference after calibration is 0; `adjusted` is p adjusted over systems.
    """

    system: str
    before: Estimate
    after: Equivalence
    p: float | None
    adjusted: float | None

    @property
    def holds(self) -> Holds:
        """Whether the jury's calibration holds for this system.

        ``yes``: the remaining difference from people is shown to be below the margin; ``no``: it is significant; ``not
        shown``: neither; ``no test``: there are too few story-prompts.
        """
        if self.after.p is None or self.adjusted is None:
            return "no test"
        if self.after.p <= ALPHA:
            return "yes"
        return "no" if self.adjusted <= ALPHA else "not shown"


def carried(
    panel: Panel, foldings: Sequence[Folding], margin: float, story_prompt: Codes, system: Codes, systems: Sequence[str]
) -> tuple[Carried, ...]:
    """Tests of whether the jury's calibration holds for each system, on one criterion.

    A story's rating is its mean over foldings (assignments of stories to folds). `margin` is the largest difference
    from people, in points, that does not matter. `story_prompt` and `system` are the codes of each story, shape (n
    stories,).
    """
    after = np.mean([each.jury for each in foldings], axis=0) - panel.people
    before = np.mean([each.uncalibrated for each in foldings], axis=0) - panel.people
    tests = []
    for code, name in enumerate(systems):
        own = (system == code) & ~np.isnan(after)
        if own.any():
            tests.append((name, *_tested(after[own], story_prompt[own], margin), _mean(before[own])))
    p = np.array([np.nan if raw is None else raw for _, _, raw, _ in tests])
    adjusted = adjust(p, "holm", family="the systems of a criterion").p if p.size else p
    return tuple(
        Carried(name, first, test, raw, None if np.isnan(adj) else float(adj))
        for (name, test, raw, first), adj in zip(tests, adjusted, strict=True)
    )


def _tested(off: Floats, story_prompt: Codes, margin: float) -> tuple[Equivalence, float | None]:
    """Equivalence test of the differences `off` (jury minus people, by story), and two-sided p that their mean is 0.

    p is None with too few story-prompts.
    """
    unit = np.unique(story_prompt, return_inverse=True)[1].reshape(-1)
    error, clusters = means.clustered_error(off, unit)
    estimate = Estimate(float(off.mean()), n=int(off.size), method="clustered by story-prompt")
    if error is None or clusters < 5 or error < 1e-12:
        return Equivalence(estimate.without_interval("fewer than 5 story-prompts"), (-margin, margin)), None
    p = float(2 * special.stdtr(clusters - 1, -abs(float(off.mean())) / error))
    return tost_of(estimate, error, clusters - 1, -margin, margin), p


def _mean(off: Floats) -> Estimate:
    defined = off[~np.isnan(off)]
    return Estimate(float(defined.mean()), n=int(defined.size)) if defined.size else Estimate.undefined("no rating")
