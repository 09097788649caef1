"""Frames of answers whose numbers stand in their printed tables alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from judge.base.printing.tables import Table


def frame_of(tables: Iterable[Table]) -> pd.DataFrame:
    """The rows of all tables as one frame; columns that a table lacks are null in its rows."""
    import pandas as pd

    from judge.base.printing.tables import flat_rows

    return pd.DataFrame([row for table in tables for row in flat_rows(table)])
