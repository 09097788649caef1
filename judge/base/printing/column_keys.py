"""Makes unique keys for columns whose titles come from the data, such as criteria and judges."""

from __future__ import annotations

from collections.abc import Iterable


def column_keys(titles: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """A key for each title; one that occurred before or is in `taken` gets a number: "coherence (2)"."""
    names, keys = set(taken), []
    for title in titles:
        key, number = title, 2
        while key in names:
            key, number = f"{title} ({number})", number + 1
        names.add(key)
        keys.append(key)
    return keys
