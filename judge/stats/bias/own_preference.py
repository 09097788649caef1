"""Self-preference: whether a judge prefers its own systems to others at equal quality.

Every judge rates some systems higher than people do, and others lower. A difference of this kind for a system that
happens to be the judge's own is not evidence of self-preference. It is therefore compared with the spread of the
judge's deviations among the other systems, and the units of the test are systems (t with systems - 2 degrees of
freedom). The module does not guess which systems are a judge's own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.base.estimate import Estimate
from judge.stats.bias.given_quality import Codes, Floats, GivenQuality
from judge.stats.resampling import jackknife
from judge.stats.resampling.jackknife import Test, Weights

# With fewer other systems their spread is not known well enough for a test.
LEAST_OTHERS = 3


@dataclass(frozen=True, slots=True, eq=False)
class OwnPreference:
    """Data of the test of a judge's preference for its own systems (such as its own model), whose stories are `own`."""

    given: GivenQuality
    own: NDArray[np.bool_]

    @property
    def systems(self) -> tuple[Codes, Codes]:
        """Codes of the judge's own systems, and of the other systems that have stories."""
        codes = np.unique(self.given.system[self.given.used])
        mine = np.unique(self.given.system[self.given.used & self.own])
        return mine, np.setdiff1d(codes, mine)

    def reason(self) -> str | None:
        """Reason why the test is undefined, or None."""
        mine, others = self.systems
        if not mine.size:
            return "undefined: none of the own systems' stories has the judge's rating and two of people's ratings"
        if others.size < LEAST_OTHERS:
            return (
                f"undefined with fewer than {LEAST_OTHERS} other systems: how much the judge's opinions of systems "
                "differ anyway is not known"
            )
        return None

    def value(self, weights: Weights, *, curved: bool = True) -> Floats:
        """Mean over own minus other systems of how far the judge rates them above human ratings, in points.

        `weights` (b, n) and `curved` are as in `GivenQuality.opinions`; each system counts once. NaN where one has no
        story.
        """
        mine, others = self.systems
        opinions = self.given.opinions(weights, curved=curved)
        return np.asarray(opinions[:, mine].mean(axis=1) - opinions[:, others].mean(axis=1), dtype=np.float64)

    def test(self, story_prompt: Codes) -> Test:
        """Test of `value` against 0 over story-prompts (jackknife) or systems (t, systems - 2 df), the wider one.

        `story_prompt` (n,). The bias that it reports is the difference from the result with a line in place of the
        curve (see `given_quality`).
        """
        mine, others = self.systems
        used, every = self.given.used, self.given.used[None, :].astype(np.float64)
        value = float(self.value(every)[0])
        bias = abs(value - float(self.value(every, curved=False)[0]))
        by_prompt = jackknife.against_zero(self.value, story_prompt, used, bias=bias)
        between = self._between()
        if by_prompt.se is None or between == 0:
            return by_prompt
        estimate = Estimate(value, by_prompt.estimate.n, method="between systems")
        df = mine.size + others.size - 2
        by_system = jackknife.student(estimate, between, df, by_prompt.clusters, bias=bias)
        return max(by_prompt, by_system, key=_width)

    def _between(self) -> float:
        """Standard error from the spread of the judge's deviations among systems."""
        mine, others = self.systems
        opinions = self.given.opinions(self.given.used[None, :].astype(np.float64))[0]
        spread = self.given.spread_within()
        df = mine.size + others.size - 2
        variances = []
        # An opinion about a system changes ratings less near an end of the judge's scale: the larger error in points,
        # and in units of the standard deviation within each system, is taken.
        for unit in (np.ones_like(spread), spread):
            parts = [((opinions[some] - opinions[some].mean()), unit[some]) for some in (mine, others)]
            squares = sum(float(((apart / each) ** 2).sum()) for apart, each in parts) / df
            variances.append(squares * sum(float((each**2).mean()) / each.size for _, each in parts))
        return float(np.sqrt(np.nanmax(variances)))


def _width(test: Test) -> float:
    low, high = test.estimate.low, test.estimate.high
    return float("inf") if low is None or high is None else high - low
