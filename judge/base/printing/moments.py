"""Converts times in seconds since 1970, as journals and manifests store them, to dates."""

from __future__ import annotations

from datetime import UTC, datetime


def moment(seconds: object) -> datetime | None:
    """The moment in UTC; None for what is no number, and for one beyond the calendar, such as the year 33658, which a
    file from elsewhere may hold.
    """
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return None
