"""The two references that judges are compared with: people one at a time (human ceiling), and the control judge.

The module defines the kinds and names of these rows in every table, the sources of the control judge's ratings, and
notes on the rows.
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
# What a row is of: people one at a time, a judge, the control; or the mean of one of these over criteria.
MEAN: Final = "mean"

# What stands in the judge's column of rows that are no judge's.
PEOPLE_NAME, CONTROL_NAME = "people, leave one out", "control, not a language model"


class ControlSource(Enum):
    """How the control judge's ratings were obtained; each value is a description in words."""

    OUT_OF_FOLD = "out of fold"
    SHIPPED = "shipped model"
    """Fitted on other stories."""
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class ControlMade:
    """How the control judge's ratings on one criterion were obtained.

    `reason` says why some or all of them are missing; None if none is missing.
    """

    source: ControlSource
    reason: str | None = None


class ControlPredictions(Protocol):
    """Ratings of the control judge in the order of the stories given (NaN = none), and how they were made.

    `how` is a part of the signature; `reason` says why some or all ratings are missing.
    """

    @property
    def values(self) -> Floats: ...
    @property
    def how(self) -> str: ...
    @property
    def source(self) -> ControlSource: ...
    @property
    def reason(self) -> str | None: ...


# From stories (`text, story_prompt, system`, features), people's mean ratings and a criterion to control ratings.
Predict = Callable[[pd.DataFrame, "pd.Series[float]", str], ControlPredictions]


def control_label(sources: Iterable[ControlSource]) -> str:
    """The control judge's name, followed by how its ratings were obtained, e.g. out of fold."""
    words = [source.value for source in dict.fromkeys(sources) if source is not ControlSource.UNAVAILABLE]
    return f"{CONTROL_NAME} ({' or '.join(words)})" if words else CONTROL_NAME


def control_note(source: ControlSource) -> str | None:
    """Note that the control judge is the shipped model, not one fitted on these stories; None for other sources."""
    if source is not ControlSource.SHIPPED:
        return None
    return "control: the shipped model, fitted on other stories, since too few of these are rated to refit it"


@dataclass(slots=True)
class Remarks:
    """Notes (whole sentences) and parts of the signature line, collected for a result of an analysis without
    duplicates.
    """

    notes: dict[str, None] = field(default_factory=dict)
    signature_parts: dict[str, None] = field(default_factory=dict)

    def note(self, sentences: Iterable[str]) -> None:
        """Add sentences to the notes, except those already there."""
        self.notes.update(dict.fromkeys(sentences))
