"""Data frames from rows of a table: each estimate becomes separate columns for value, interval limits and reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from judge.base.estimate import Estimate


def flat_frame(rows: Iterable[Mapping[str, Any]], signature: str, notes: Sequence[str] = ()) -> pd.DataFrame:
    """A data frame from rows of a table, with one column per number; `signature` and `notes` are kept in its `attrs`.

    `rows` are mappings by column name. An `Estimate` named `x` gives the columns `x`, `x_low`, `x_high` and `x_reason`;
    a mapping gives one column for each of its keys.
    """
    frame = pd.DataFrame([_flat(row) for row in rows])
    frame.attrs.update(signature=signature, notes=list(notes))
    return frame


def _flat(cells: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in cells.items():
        if isinstance(value, Estimate):
            flat |= {name: value.value, f"{name}_low": value.low, f"{name}_high": value.high}
            flat[f"{name}_reason"] = value.reason
        elif isinstance(value, Mapping):
            flat |= _flat(value)
        else:
            flat[name] = value
    return flat
