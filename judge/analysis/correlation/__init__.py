"""Correlations of judges' ratings with human ratings, with counts of lost ratings.

Every criterion has the human ceiling, one correlation for each judge x Eval-Prompt, and the control judge, which
predicts ratings from surface features. All intervals use the same resamples. A judge's row is computed on the stories
that it rated, and also reports ceiling and control on these. Compared with the ceiling, the judge is scored as one
person is, against the mean of the other people.
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
    from judge.ratings.ratings_table import RatingsTable

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
    """Correlations of judges with people as a data frame, for notebooks. `predict` gives the control's out-of-fold
    ratings; None = no control row.

    `n` counts the units of the correlation (stories, systems or groups). `unrated` counts requested stories without a
    rating, `missing` counts repeats without one by cause. `given` is the partial correlation with the third variable of
    `options.given` held fixed. `leave_one_out` is the row's correlation with the means of all people but one, as for
    the ceiling. `people_same` and `control_same` are ceiling and control on this row's stories. `lost_lowest,
    lost_highest, lost_middle` are the correlation if all lost stories are rated at the lowest point, the highest point
    or the judge's median (`lost_ratings`), null where none was lost. Undefined values are null with a `reason`.
    """
    return correlations(table, options, predict).frame
