"""Names of the raters. Equal names in different panels are different persons."""

from __future__ import annotations

from typing import Any

import pandas as pd

_PANEL = "panel"


def raters(frame: pd.DataFrame) -> pd.Series[Any]:
    """The column of raters' names of a ratings table. If a name occurs in several panels of a dataset, the panel's name
    is added to it: "NAME of PANEL".
    """
    rater = frame["rater"]
    if _PANEL not in frame.columns:
        return rater
    named = frame[[*("dataset", "rater"), _PANEL]].astype(object).dropna().drop_duplicates()
    twice = named[named.duplicated(["dataset", "rater"], keep=False)]
    if twice.empty:
        return rater
    text, panel = rater.astype(object), frame[_PANEL].astype(object)
    shared = text.isin(set(twice["rater"])) & panel.notna()
    return text.where(~shared, text.astype(str) + " of " + panel.astype(str))
