"""Data type of an estimate: a number with its interval, or the reason why it is undefined."""

from __future__ import annotations

from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Reason:
    """Reason why a number or its interval is undefined, in parts; `str` gives the whole sentence.

    Attributes
    ----------
    fact : str
        The cause, e.g. ``who gave which rating is not known``.
    unavailable : str or None
        Name of a result that cannot be computed for lack of data, e.g. ``human ceiling``; None where data exist but
        the statistic is undefined.
    criteria : tuple of str
        For a mean over criteria: the criteria that are undefined for this reason.
    of : int
        Number of criteria in that mean.
    interval : bool
        True if there is a value and only the interval is undefined.
    """

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

    Attributes
    ----------
    value : float or None
        The statistic; None where it is undefined, and `reason` says why.
    n : int
        Number of units (stories, systems, raters...) on which it is computed.
    low, high : float or None
        Ends of the interval; None without an interval.
    method : str or None
        How the interval was computed, e.g. ``"F, 95 %"``.
    reason : str or None
        Why the value (or, if there is a value, the interval) is undefined.
    parts : Reason or None
        The reason in parts, where it is composed of several.
    """

    value: float | None
    n: int
    low: float | None = None
    high: float | None = None
    method: str | None = None
    reason: str | None = None
    parts: Reason | None = field(default=None, repr=False, compare=False)

    @classmethod
    def undefined(cls, reason: str | Reason, n: int = 0) -> Estimate:
        """An undefined estimate.

        Parameters
        ----------
        reason : str or Reason
            Why it is undefined.
        n : int
            Number of units that were available.
        """
        if isinstance(reason, Reason):
            return cls(value=None, n=n, reason=str(reason), parts=reason)
        return cls(value=None, n=n, reason=reason)

    def without_interval(self, fact: str) -> Estimate:
        """A copy of the estimate without its interval.

        Parameters
        ----------
        fact : str
            Why there is no interval; `reason` becomes "no interval: " followed by this text.
        """
        reason = Reason(fact, interval=True)
        return replace(self, low=None, high=None, reason=str(reason), parts=reason)

    @property
    def defined(self) -> bool:
        """Whether the estimate has a value."""
        return self.value is not None

    @property
    def why(self) -> Reason:
        """Reason, in parts, why the estimate or its interval is undefined.

        A reason given as plain text is returned as one part.
        """
        if self.parts is not None and str(self.parts) == self.reason:
            return self.parts
        return Reason(self.reason or "undefined")
