"""Whether a bias is shown to lie within the limit of its kind: an equivalence test by the interval of the effect.

That a test finds nothing is no proof of nothing: few stories find nothing too. A bias is shown to be small where its
whole 95 % interval lies inside the limit (two one-sided tests at 2.5 %: Schuirmann 1987, Journal of Pharmacokinetics
and Biopharmaceutics 15). What has no interval, or one that reaches beyond the limit, cannot be told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from judge.analysis.diagnose.kinds import COPY, NO_OWN, REVERSED_RATER, Finding
from judge.base.wording import written
from judge.stats.resampling.jackknife import Tail, Test

Ends = tuple[float, float]
State = Literal["within", "beyond", "cannot be told"]


@dataclass(frozen=True, slots=True)
class Bounded:
    """Whether one kind of bias of a judge is shown to be within its limit.

    `state` is "within" or "beyond" where it is shown to lie inside or outside of the limit. `ends` is the 95 % interval
    in the unit of the limit (None where there is none), and `words` tell the result.
    """

    finding: Finding
    state: State
    ends: Ends | None
    words: str

    @property
    def within(self) -> bool:
        """Whether the bias is shown to be within its limit."""
        return self.state == "within"

    @property
    def asks_for_own(self) -> bool:
        """Whether it cannot be told because nobody said which systems are the judge's own."""
        return self.finding.test.estimate.reason == NO_OWN


def bounded(findings: Sequence[Finding]) -> list[Bounded]:
    """For each kind of bias that has a limit and that the judge can have here, whether it is within this limit."""
    return [_bounded(finding) for finding in findings if finding.applies and finding.kind.limit is not None]


def found_without_limit(findings: Sequence[Finding]) -> list[Finding]:
    """Those of the significant `findings` that no limit makes small: a repeated rater, and a person's scale turned
    round.
    """
    return [finding for finding in findings if finding.diagnostic in (COPY, REVERSED_RATER)]


def _bounded(finding: Finding) -> Bounded:
    kind, limit = finding.kind, finding.kind.limit or 0.0
    ends = [ends for test in finding.bounding or (finding.test,) if (ends := _ends(test, finding.factor)) is not None]
    inside = next((pair for pair in ends if _inside(pair, limit, kind.tail)), None)
    if inside is not None:
        return Bounded(finding, "within", inside, f"{_interval(inside)} {kind.limit_unit}")
    if finding.at_most is not None and finding.at_most < limit:
        most = finding.at_most
        return Bounded(finding, "within", (-most, most), f"at most {most:.2f} {kind.limit_unit}")
    allowed = f"{'±' if kind.tail == 'two-sided' else '-' if kind.tail == 'less' and limit else ''}{limit:g}"
    if not ends:
        reason = written(finding.test.estimate.reason or "no interval", None)
        return Bounded(finding, "cannot be told", None, f"cannot be told: {finding.diagnostic} ({reason})")
    value = f"{_interval(ends[0])} {kind.limit_unit}, allowed {'above' if kind.tail == 'less' else 'within'} {allowed}"
    if all(_outside(pair, limit, kind.tail) for pair in ends):
        return Bounded(finding, "beyond", ends[0], f"{finding.verdict(2.0)}: {value}")
    return Bounded(finding, "cannot be told", ends[0], f"cannot be told: {finding.diagnostic} {value}")


def _ends(test: Test, factor: float) -> Ends | None:
    low, high = test.estimate.low, test.estimate.high
    if low is None or high is None or not np.isfinite(factor):
        return None
    return low * factor, high * factor


def _inside(ends: Ends, limit: float, tail: Tail) -> bool:
    return (tail == "greater" or ends[0] > -limit) and (tail == "less" or ends[1] < limit)


def _outside(ends: Ends, limit: float, tail: Tail) -> bool:
    return (tail != "less" and ends[0] > limit) or (tail != "greater" and ends[1] < -limit)


def _interval(ends: Ends) -> str:
    return f"[{ends[0]:+.2f}, {ends[1]:+.2f}]"
