"""A number that knows how sure it is, or why it does not exist. Never a bare NaN."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Estimate:
    """One statistic.

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
    """

    value: float | None
    n: int
    low: float | None = None
    high: float | None = None
    method: str | None = None
    reason: str | None = None

    @classmethod
    def undefined(cls, reason: str, n: int = 0) -> Estimate:
        """An estimate that does not exist, and why."""
        return cls(value=None, n=n, reason=reason)

    @property
    def defined(self) -> bool:
        """Whether there is a value."""
        return self.value is not None
