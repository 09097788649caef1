"""The ICC family as computed by the package pingouin, for comparison with this program's own computation."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import pandas as pd

from judge.base.arrays import Floats
from judge.base.errors import MissingExtraError
from judge.base.wording import Advice
from judge.stats.agreement import icc


@dataclass(frozen=True, slots=True)
class PingouinRow:
    """One form of the ICC; `form` is pingouin's name for it."""

    form: str
    icc: float
    f: float
    df1: int
    df2: int
    p: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PingouinFamily:
    """All forms of the ICC of one array of ratings, or the `reason` why there are none; `version` is pingouin's."""

    version: str
    rows: tuple[PingouinRow, ...]
    reason: str | None = None


def family(ratings: Floats) -> PingouinFamily:
    """ICC family of ratings of shape (stories, columns), NaN = none. Raises MissingExtraError without pingouin."""
    try:
        import pingouin
    except ImportError as error:
        raise MissingExtraError(Advice("judge consistency {engine}", engine="pingouin"), "stats") from error
    ours = icc.family(ratings).rows[0].estimate
    if not ours.defined:
        return PingouinFamily(pingouin.__version__, (), ours.reason)
    long = (
        pd.DataFrame(ratings).rename_axis("story").reset_index().melt("story", var_name="column", value_name="rating")
    )
    long["column"] = long["column"].astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pingouin 0.7 calls what pandas 3.1 deprecates
        frame = pingouin.intraclass_corr(long, targets="story", raters="column", ratings="rating", nan_policy="omit")
    rows = [
        PingouinRow(row["Type"], row["ICC"], row["F"], row["df1"], row["df2"], row["pval"], *map(float, row["CI95"]))
        for row in frame.to_dict("records")
    ]
    return PingouinFamily(pingouin.__version__, tuple(rows))
