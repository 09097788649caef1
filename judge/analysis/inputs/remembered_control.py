"""Cache of the control judge's predictions for each dataset and criterion, because a refit takes seconds."""

from __future__ import annotations

import numpy as np
import pandas as pd

from judge.analysis.inputs.bars import ControlPredictions
from judge.analysis.inputs.control import Control


class RememberedControl:
    """A `Control` with a cache: for equal stories and ratings, earlier predictions are returned."""

    def __init__(self) -> None:
        self._control = Control()
        self._known: dict[tuple[object, ...], ControlPredictions] = {}

    def __call__(self, stories: pd.DataFrame, people: pd.Series[float], criterion: str) -> ControlPredictions:
        key = (tuple(stories["story"]), tuple(stories["text"]), people.to_numpy(dtype=np.float64).tobytes(), criterion)
        if key not in self._known:
            self._known[key] = self._control(stories, people, criterion)
        return self._known[key]
