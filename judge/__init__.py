"""Measure whether a language model can stand in for human readers of stories.

For notebooks: `judge.load_dataset(name)`; `judge.run(path)` or `judge.open_run(path)`, then `.ratings()`,
`.correlate(...).frame`; and `judge.open_audit(path)`. Importing this package loads no large libraries; its functions
import them when they are called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge.version import __version__

if TYPE_CHECKING:
    from judge.api import Answer, OpenedRun, load_dataset, open_audit, open_run, run

__all__ = ["Answer", "OpenedRun", "__version__", "load_dataset", "open_audit", "open_run", "register_plan", "run"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from judge import api

        return getattr(api, name)
    raise AttributeError(f"module 'judge' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
