"""The two references of judges: one more person, and the control judge; their names and notes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, Literal

import pandas as pd

from judge.base.arrays import Floats

Kind = Literal["ceiling", "judge", "control", "mean"]
CEILING: Final = "ceiling"
JUDGE: Final = "judge"
CONTROL: Final = "control"
# What a row is of: people one at a time, a judge, the control; or the mean of one of these over criteria.
MEAN: Final = "mean"

# What stands in the judge's column of rows that are no judge's.
PEOPLE_NAME, CONTROL_NAME = "one more person", "control, not a language model"


class ControlSource(Enum):
    """How the control judge's ratings were obtained."""

    OUT_OF_FOLD = "out of fold"
    SHIPPED = "shipped model"
    """Fitted on other stories."""
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class ControlMade:
    """How the control's ratings on one criterion were obtained, and why some or all are missing; None = none is."""

    source: ControlSource
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ControlPredictions:
    """The control judge's ratings in the order of the stories given, shape (n_stories,); NaN for the `reason`. `how` is
    a part of the signature: ``surface:refit/5x5-fold/less-fold-means/seed1`` (foldings x folds),
    ``surface:shipped@b2:...`` or ``surface:none``. `n` counts stories with a prediction."""

    values: Floats
    how: str
    source: ControlSource
    n: int
    reason: str | None = None


# From stories (`text, story_prompt, system`, features), people's mean ratings and a criterion to control ratings.
Predict = Callable[[pd.DataFrame, "pd.Series[float]", str], ControlPredictions]


def control_label(sources: Iterable[ControlSource]) -> str:
    """The control judge's name, followed by how its ratings were obtained."""
    words = [source.value for source in dict.fromkeys(sources) if source is not ControlSource.UNAVAILABLE]
    return f"{CONTROL_NAME} ({' or '.join(words)})" if words else CONTROL_NAME


def control_note(source: ControlSource) -> str | None:
    """Note that the control is the shipped model, not one fitted on these stories; None for other sources."""
    if source is not ControlSource.SHIPPED:
        return None
    return "control: the shipped model, fitted on other stories, since too few of these are rated to refit it"


@dataclass(slots=True)
class Remarks:
    """Notes (whole sentences) and parts of the signature line of an analysis, without duplicates."""

    notes: dict[str, None] = field(default_factory=dict)
    signature_parts: dict[str, None] = field(default_factory=dict)

    def note(self, sentences: Iterable[str]) -> None:
        self.notes.update(dict.fromkeys(sentences))
