"""The type of the preferences table: its columns, stories, and facts about each result folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pandas as pd

from judge.base.records import Criterion

COLUMNS = (
    "run",
    "judge",
    "dataset",
    "pair",
    "story_prompt",
    "first",
    "second",
    "first_system",
    "second_system",
    "criterion",
    "eval_prompt",
    "source",
    "rater",
    "repeat",
    "preference",
    "p_first",
    "p_second",
    "p_tie",
    "status",
    "flags",
    "explanation",
)
"""Columns of the table, in order.

`first` and `second` are the stories as they were shown (people's: as the dataset names them); `preference` is first,
second, tie, or null where there is none; `p_first`, `p_second` and `p_tie` are shares of a verdict scored by
log-probabilities, null elsewhere; `rater` is null where identity is unknown.
"""

ORDER_UNKNOWN = "order_unknown"
"""Flag of a judge's row whose stories are not known to have been shown in the order of `first` and `second`."""

Source = Literal["judge", "rater", "implied"]
"""Who preferred: a judge that compared, a person, or the sign of the difference of two mean ratings."""


@dataclass(frozen=True, slots=True)
class ComparisonFacts:
    """Facts of one result folder of comparisons, for the signature and the notes of a table.

    `revision` is the revision of the judge's model (None = not known), `repeats` the number of repeats per query (0 =
    not known), and `parser` the version of the parser that read the answers. `path` is the result folder. `structured`
    is the answer form that the run requested from the server (None = not known). `orders` is how pairs were shown
    (both, random, as-given), or "implied" for preferences from ratings. `ties` says whether a tie was offered.
    `not_in_force` names the settings that were refused or ignored, or whose effect is not known; "" = none.
    """

    run: str
    judge: str
    dataset: str
    revision: str | None
    repeats: int
    criteria: tuple[Criterion, ...]
    eval_prompts: tuple[str, ...]
    orders: str
    ties: bool
    parser: str
    notes: tuple[str, ...]
    path: Path
    structured: str | None = None
    not_in_force: str = ""


@dataclass(frozen=True, slots=True)
class PreferencesTable:
    """The preferences table. `frame` has the columns `COLUMNS` and one row for each preference. `stories`, indexed by
    (dataset, story), has story_prompt, system, words and text. `facts` has one entry for each result folder.
    """

    frame: pd.DataFrame
    stories: pd.DataFrame
    facts: tuple[ComparisonFacts, ...]
