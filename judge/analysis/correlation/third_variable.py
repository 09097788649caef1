"""The third variable that a partial correlation holds fixed: a property of the stories themselves."""

from __future__ import annotations

import numpy as np

from judge.analysis.correlation.statistic import Side
from judge.base.errors import SpecError, unknown_value
from judge.base.wording import Advice
from judge.ratings.rating_matrix import RatingMatrix


def third_variable(matrix: RatingMatrix, given: str | None) -> tuple[str, Side] | None:
    """Name and values of the variable that a partial correlation holds fixed; None where none is requested.

    It is the length in words, or an imported feature of the stories.
    """
    if given is None:
        return None
    features = {str(name): matrix.features[name].to_numpy(dtype=np.float64) for name in matrix.features.columns}
    words = matrix.stories["words"].to_numpy(dtype=np.float64)
    if not np.isnan(words).all():
        features["length"] = words
    if given not in features:
        if not features:
            raise SpecError(
                Advice("{given}: nothing is known of the stories of {} but their ratings", matrix.dataset, given=given),
                hint="import them with imported_stories.csv (dataset, story, words, features)",
            )
        raise unknown_value("given", given, features)
    return f"the stories' {given}", Side(features[given])
