"""Data type of an estimate: a number with its interval, or the reason why it is undefined."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

# Coverage of the intervals of all statistics.
CONFIDENCE = 0.95
# Level of tests; of two one-sided tests, that of each.
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a number or its interval is undefined, in parts; `str` gives the whole sentence.

    `fact` is the cause, e.g. ``who gave which rating is not known``. `unavailable` names a result that lacks data, e.g.
    ``one more person``; None where data exist but the statistic is undefined. For a mean over `of` criteria, `criteria`
    are those undefined for this reason. `interval`: there is a value, and only the interval is undefined."""

    fact: str
    unavailable: str | None = None
    criteria: tuple[str, ...] = ()
    of: int = 0
    interval: bool = False

    def __str__(self) -> str:
        if self.interval:
            return f"no interval: {self.fact}"
        text = f"{self.unavailable} unavailable: {self.fact}" if self.unavailable else self.fact
        if not self.criteria:
            return text
        all_of_several = 1 < self.of == len(self.criteria)
        return f"undefined for {f'all {self.of} criteria' if all_of_several else self.criteria[0]} ({text})"


@dataclass(frozen=True, slots=True)
class Estimate:
    """One statistic with its interval, or the reason why it is undefined.

    `value` is None where it is undefined, `low` and `high` where there is no interval; `reason` then says why. `n` is
    the number of units (stories, systems, raters...). `method` is how the interval was computed, e.g. ``"F, 95 %"``.
    `parts` is the reason in parts, where it is composed of several."""

    value: float | None
    n: int
    low: float | None = None
    high: float | None = None
    method: str | None = None
    reason: str | None = None
    parts: Reason | None = field(default=None, repr=False, compare=False)

    @classmethod
    def undefined(cls, reason: str | Reason, n: int = 0) -> Estimate:
        """An undefined estimate; `n` units were available."""
        if isinstance(reason, Reason):
            return cls(value=None, n=n, reason=str(reason), parts=reason)
        return cls(value=None, n=n, reason=reason)

    def without_interval(self, fact: str) -> Estimate:
        """A copy without its interval; `reason` becomes "no interval: " and `fact`."""
        reason = Reason(fact, interval=True)
        return replace(self, low=None, high=None, reason=str(reason), parts=reason)

    @property
    def defined(self) -> bool:
        return self.value is not None

    @property
    def why(self) -> Reason:
        """Why the estimate or its interval is undefined. A reason given as plain text is one part."""
        if self.parts is not None and str(self.parts) == self.reason:
            return self.parts
        return Reason(self.reason or "undefined")
