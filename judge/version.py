"""Versions of this program and of installed packages, for signatures of results and manifests of runs."""

from __future__ import annotations

import functools

__version__ = "1.0.0"


@functools.cache
def installed(package: str) -> str | None:
    """Version of an installed package; None if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None
