"""The ratings table as a value: columns, stories, and facts about each result folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from judge.records import Criterion, Scale

COLUMNS = (
    "run",
    "judge",
    "dataset",
    "story",
    "story_prompt",
    "system",
    "criterion",
    "eval_prompt",
    "source",
    "rater",
    "repeat",
    "rating",
    "status",
    "flags",
    "explanation",
)
"""Columns of the table, in order. `rating` is null where there is none; `rater` is null where identity is unknown."""

LABEL = "label"
"""Column behind `rating`, of tables in which some criterion has labels: the label whose code the rating is."""

PANEL = "panel"
"""Column behind `rater`, of tables in which some person belongs to a panel; null for judges."""

STORY_COLUMNS = ("story_prompt", "system", "words", "text")
"""Columns of the table of stories; every further column is a numeric feature of the story that came with an import."""


class StoryRow(NamedTuple):
    """A row of the table of stories, with its two index columns; `words` is the number of words of the text."""

    dataset: str
    story: str
    story_prompt: str
    system: str
    words: int
    text: str


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Facts of one result folder, for the signature and the notes of a table.

    `structured` is how the server was asked to constrain answers (none, choice, json); None where that is not known.
    `single` says of imported ratings whether they are single ratings or means of repeats; None where the import did not
    say it. `labels_note` is what the dataset says of ratings that no reader gave; None where readers gave them.
    `given` is what correlations hold fixed beside these ratings where nothing else is asked for (length, of measures).
    `directions` says of measures, by the judge's name, whether more is better (1), worse (-1) or neither (0).
    `people` says which criterion of people's a criterion is set against, by its name, where the run says it.
    `joint` names the Eval-Prompts that rate several criteria in one answer. `not_in_force` marks settings that were
    refused or ignored, or of which nothing is known, as signatures show them. `unasked` counts planned repeats that
    have not been requested yet.
    """

    run: str
    judge: str
    dataset: str
    revision: str | None
    repeats: int
    criteria: tuple[Criterion, ...]
    eval_prompts: tuple[str, ...]
    parser: str
    notes: tuple[str, ...]
    control: bool
    path: Path
    structured: str | None = None
    labels_note: str | None = None
    single: bool | None = None
    not_in_force: str = ""
    people: Mapping[str, str] = field(default_factory=dict)
    joint: tuple[str, ...] = ()
    given: str | None = None
    directions: Mapping[str, int] = field(default_factory=dict)
    unasked: int = 0


@dataclass(frozen=True, slots=True)
class RatingsTable:
    """`frame` has `COLUMNS`, `PANEL` where some person has a panel, and `LABEL` where some criterion has labels;
    `stories`, indexed by (dataset, story), has `STORY_COLUMNS` and perhaps features; `labels` are the scales of
    criteria with labels by (dataset, criterion in small letters). `panel` names the one that people were narrowed to.
    """

    frame: pd.DataFrame
    stories: pd.DataFrame
    facts: tuple[RunFacts, ...]
    labels: Mapping[tuple[str, str], Scale] = field(default_factory=dict)
    panel: str | None = None
