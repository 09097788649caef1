"""Measure whether a language model can stand in for human readers of stories.

For notebooks: `judge.load_dataset(name)`, `judge.open_run(path)`, then `run.ratings()`, `run.correlate(...)`,
and `judge.open_audit(path)`.
Importing this package loads nothing heavy; its functions import what they need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge.version import __version__

if TYPE_CHECKING:
    from judge.api import OpenedRun, load_dataset, open_audit, open_run

__all__ = ["OpenedRun", "__version__", "load_dataset", "open_audit", "open_run"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from judge import api

        return getattr(api, name)
    raise AttributeError(f"module 'judge' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
