"""The ratings table as a data type: its columns, its stories, and facts about each result folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from judge.base.records import Criterion, Scale

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
    """One row of the table of stories. Its index is `dataset` and `story`; `words` is the text's number of words."""

    dataset: str
    story: str
    story_prompt: str
    system: str
    words: int
    text: str


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Facts about one result folder, for a table's notes and its signature (the line with dataset, judge and settings).

    Attributes
    ----------
    run, judge, dataset : str
        Names of the run, the judge and the dataset.
    revision : str or None
        Revision of the judge's model; None where not known.
    repeats : int
        Repeats per query; 0 where not known.
    criteria, eval_prompts : tuple
        The criteria and the names of the Eval-Prompts.
    parser : str
        Version of the parser that read the answers.
    notes : tuple of str
        Notes under every table of the folder.
    control : bool
        Whether the judge is a control, not a language model.
    path : Path
        The result folder.
    structured : str or None
        How the server was asked to constrain answers, such as none, choice or json; None where not known.
    labels_note : str or None
        The dataset's remark on reference labels that no person gave; None where people gave the ratings.
    single : bool or None
        For imported ratings: True for single ratings, False for means of repeats, None where the import did not
        state it.
    not_in_force : str
        Text that marks, in signatures, settings that were refused or ignored, or whose effect is unknown; empty if
        there are none.
    people : mapping
        For a judge's criterion, the name of the human criterion it is compared with, where the run defines one.
    joint : tuple of str
        The Eval-Prompts that rate several criteria in one answer.
    given : str or None
        Name of the variable that is held fixed by default in correlations with these ratings: length, for automatic
        measures. None if there is none.
    directions : mapping
        For each automatic measure, by judge name: 1 = higher is better, -1 = lower is better, 0 = neither.
    unasked : int
        Number of planned repeats that have not been requested yet.
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
    """Ratings of judges and people, with the stories, the facts of each result folder and the scales with labels.

    Attributes
    ----------
    frame : DataFrame
        One row per rating, with `COLUMNS`, `PANEL` where some rater has a panel, and `LABEL` where a criterion has
        labels.
    stories : DataFrame
        Indexed by (dataset, story), with `STORY_COLUMNS` and possibly features.
    facts : tuple of RunFacts
        Facts of each result folder.
    labels : mapping
        Scale of each criterion with labels, by (dataset, criterion in small letters).
    panel : str or None
        Panel to which human ratings were restricted; None for all people.
    """

    frame: pd.DataFrame
    stories: pd.DataFrame
    facts: tuple[RunFacts, ...]
    labels: Mapping[tuple[str, str], Scale] = field(default_factory=dict)
    panel: str | None = None
