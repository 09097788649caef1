"""Converts times in seconds since 1970, as journals and manifests store them, to dates."""

from __future__ import annotations

from datetime import UTC, datetime


def moment(seconds: object) -> datetime | None:
    """The moment in UTC; None for no number, or one beyond the calendar, such as the year 33658 in a foreign file."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return None
