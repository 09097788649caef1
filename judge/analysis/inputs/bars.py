"""The bars that judges are compared with, people one at a time and the control, and notes on such rows.

Kinds and names of the rows of every table that sets judges beside people, where the control's ratings come from, and
the notes that follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, Literal, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]

Kind = Literal["ceiling", "judge", "control", "mean"]
CEILING: Final = "ceiling"
JUDGE: Final = "judge"
CONTROL: Final = "control"
MEAN: Final = "mean"
"""What a row is of: people one at a time, a judge, the control; or the mean of one of these over criteria."""

PEOPLE_NAME, CONTROL_NAME = "people, leave one out", "control, not a language model"
"""What stands in the judge's column of rows that are no judge's."""


class ControlSource(Enum):
    """Source of the control's ratings; each value is its description in words."""

    OUT_OF_FOLD = "out of fold"
    SHIPPED = "shipped model"
    """Fitted on other stories."""
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class ControlMade:
    """Source of the control's ratings on one criterion, and why some or all of them are missing."""

    source: ControlSource
    reason: str | None = None


class ControlPredictions(Protocol):
    """Ratings of the control judge, aligned with the stories given, NaN = none; and how the ratings were made.

    `how` is a part of the signature, `reason` says why some or all ratings are missing.
    """

    @property
    def values(self) -> Floats: ...
    @property
    def how(self) -> str: ...
    @property
    def source(self) -> ControlSource: ...
    @property
    def reason(self) -> str | None: ...


Predict = Callable[[pd.DataFrame, "pd.Series[float]", str], ControlPredictions]
"""From stories (`text, story_prompt, system`, features), people's mean ratings and a criterion to control ratings."""


def control_label(sources: Iterable[ControlSource]) -> str:
    """The control's name with the sources of its ratings over all criteria."""
    words = [source.value for source in dict.fromkeys(sources) if source is not ControlSource.UNAVAILABLE]
    return f"{CONTROL_NAME} ({' or '.join(words)})" if words else CONTROL_NAME


def control_note(source: ControlSource) -> str | None:
    """A note on a control that was not refitted on the stories at hand."""
    if source is not ControlSource.SHIPPED:
        return None
    return "control: the shipped model, fitted on other stories, since too few of these are rated to refit it"


@dataclass(slots=True)
class Remarks:
    """Notes in sentences, and parts of the signature, that belong to rows; without duplicates."""

    notes: dict[str, None] = field(default_factory=dict)
    signature_parts: dict[str, None] = field(default_factory=dict)

    def note(self, sentences: Iterable[str]) -> None:
        """Add the sentences that are not among the notes yet."""
        self.notes.update(dict.fromkeys(sentences))
