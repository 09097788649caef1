"""An estimate: a number with its interval, or the reason why it does not exist."""

from __future__ import annotations

from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Reason:
    """The reason why a number or its interval does not exist, in parts; `str` gives the sentence.

    Attributes
    ----------
    fact : str
        What is the case, e.g. ``who gave which rating is not known``.
    unavailable : str or None
        What cannot be had because of it, for want of data, e.g. ``human ceiling``; None where data are at hand and the
        statistic is undefined.
    criteria : tuple of str
        For a mean over criteria: those that are undefined for this reason.
    of : int
        The number of criteria that the mean is over.
    interval : bool
        Whether there is a value, and only the interval does not exist.
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
        The statistic; None when it is undefined, and then `reason` says why.
    n : int
        Number of units (stories, systems, raters...) it rests on.
    low, high : float or None
        Ends of the interval, None where none was asked for or none exists.
    method : str or None
        How the interval was made, e.g. ``"F, 95 %"``.
    reason : str or None
        Why the value (or, with a value, the interval) is undefined.
    parts : Reason or None
        The same in parts, where `reason` is put together of several.
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
        """An estimate that does not exist.

        Parameters
        ----------
        reason : str or Reason
            Why it does not exist.
        n : int
            Number of units that were at hand.
        """
        if isinstance(reason, Reason):
            return cls(value=None, n=n, reason=str(reason), parts=reason)
        return cls(value=None, n=n, reason=reason)

    def without_interval(self, fact: str) -> Estimate:
        """The same value without an interval.

        Parameters
        ----------
        fact : str
            Why there is no interval; `reason` becomes "no interval: " and this.
        """
        reason = Reason(fact, interval=True)
        return replace(self, low=None, high=None, reason=str(reason), parts=reason)

    @property
    def defined(self) -> bool:
        """Whether there is a value."""
        return self.value is not None

    @property
    def why(self) -> Reason:
        """Reason, in parts, why the estimate or its interval is undefined; a plain sentence is one part."""
        if self.parts is not None and str(self.parts) == self.reason:
            return self.parts
        return Reason(self.reason or "undefined")
