"""What judges are set beside: people one at a time, the control out of fold; and what such rows remark.

Names of the rows of every table that sets judges beside people, how the control was made, and the notes that follow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]

CEILING, CONTROL = "people, leave one out", "control, not a language model"
JUDGE, MEAN = "judge", "mean"


class ControlPredictions(Protocol):
    """Out-of-fold ratings of the control judge, aligned with the stories given, NaN = none; and how they were made."""

    @property
    def values(self) -> Floats: ...
    @property
    def how(self) -> str: ...
    @property
    def reason(self) -> str | None: ...


Predict = Callable[[pd.DataFrame, "pd.Series[float]", str], ControlPredictions]
"""From stories (`text, story_prompt, system`, features), people's mean ratings and a criterion to control ratings."""


OUT_OF_FOLD, SHIPPED = "out of fold", "shipped model"
"""How a control was made, as its label says it; the shipped model was fitted on other stories."""


def control_label(hows: Iterable[str]) -> str:
    """The control's name with how it was made, from `ControlPredictions.how` of all its criteria."""
    known = dict.fromkeys(words for how in hows if (words := _how_words(how)))
    return f"{CONTROL} ({' or '.join(known)})" if known else CONTROL


def control_note(how: str) -> str | None:
    """What is to be said of a control that was not refitted on the stories at hand."""
    if _how_words(how) != SHIPPED:
        return None
    return "control: the shipped model, fitted on other stories, since too few of these are rated to refit it"


def _how_words(how: str) -> str | None:
    return {"surface:refit": OUT_OF_FOLD, "surface:shipped": SHIPPED}.get(re.split("[/@]", how, maxsplit=1)[0])


@dataclass(slots=True)
class Remarks:
    """What the rows have to say beside numbers: notes in sentences, and parts of the signature; each once."""

    notes: dict[str, None] = field(default_factory=dict)
    made: dict[str, None] = field(default_factory=dict)
