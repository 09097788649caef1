"""Correlations of judges' ratings with people's, with counts of what was lost.

For every judge x Eval-Prompt x criterion one correlation, with the human ceiling above and the control judge's beneath,
all with intervals from one set of resamples. A judge's row stands on the stories that it rated, and names what people
and control reach on these; beside people it is scored as one person is, against the means of the others.

`correlations` computes one value; its frame, the printed tables and whatever else shows it are made from that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from judge.analysis.correlation.compute import correlations
from judge.analysis.correlation.printed import tables
from judge.analysis.correlation.result import CorrelatedDataset, CorrelationRow, Correlations
from judge.analysis.inputs.bars import ControlPredictions, Predict
from judge.analysis.options.table_options import CorrelationOptions

if TYPE_CHECKING:
    from judge.ratings_table import RatingsTable

__all__ = [
    "ControlPredictions",
    "CorrelatedDataset",
    "CorrelationRow",
    "Correlations",
    "Predict",
    "correlate",
    "correlations",
    "tables",
]


def correlate(
    table: RatingsTable, options: CorrelationOptions | None = None, *, predict: Predict | None = None
) -> pd.DataFrame:
    """Correlations of judges with people as a data frame, for notebooks.

    Parameters
    ----------
    table : RatingsTable
    options : CorrelationOptions
        Coefficient, level, systems to drop, interval; see there.
    predict : callable, optional
        Gives the control's out-of-fold ratings; None = no control row.

    Returns
    -------
    DataFrame
        `dataset, kind` (judge, ceiling, control, or mean: over criteria, where there are several), `run, judge,
        eval_prompt, criterion, against, value, low, high, n, stories, systems, repeats, unrated, missing, method,
        reason, given, given_low, given_high, leave_one_out, people_same, control_same, lost_lowest, lost_highest,
        lost_middle`. `n` counts what the correlation is over (stories, systems or groups), `unrated` asked stories
        without a judge's rating, `missing` repeats by cause; `given` is the correlation with the third variable of
        `options.given` held fixed. `leave_one_out` scores the row against the means of the other people, as the
        ceiling's; `people_same` and `control_same` are ceiling and control on this row's stories; `lost_lowest,
        lost_highest, lost_middle` the correlation with lost stories tied there (`lost_ratings`), null where nothing was
        lost. Undefined values are null with a reason. `attrs` holds `signature` and `notes`.
    """
    return correlations(table, options, predict).frame
