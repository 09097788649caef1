"""The ratings table as a data type: its columns, its stories, and facts about each result folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from judge.backends.trained.model import marks_of
from judge.base.errors import RunFolderError
from judge.base.records import Criterion, Scale
from judge.base.wording import Advice, Note

# Columns of the table, in order. `rating` is null where there is none; `rater` is null where identity is unknown.
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

# Column behind `rating`, of tables in which some criterion has labels: the label whose code the rating is.
LABEL = "label"

# Column behind `rater`, of tables in which some person belongs to a panel; null for judges.
PANEL = "panel"

# Columns of the table of stories; every further column is a numeric feature of the story that came with an import.
STORY_COLUMNS = ("story_prompt", "system", "words", "text")


class StoryRow(NamedTuple):
    """A row of the table of stories, by `dataset` and `story`; `words` is the text's number of words."""

    dataset: str
    story: str
    story_prompt: str
    system: str
    words: int
    text: str


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Facts about one result folder, for a table's notes and signature. None = not known.

    `repeats` per query are 0 where not known, and `parser` is the version that read the answers.
    `control`: the judge is no language model. `structured`: how answers were constrained, such as none, choice or json.
    `labels_note`: the dataset's remark on reference labels that no person gave.
    `single`, for imported ratings: True for single ones, False for means of repeats, None if the import did not say.
    `not_in_force` marks settings that were refused or ignored, or whose effect is unknown; "" without any.
    `people`: judge's criterion -> human criterion with which the run compares it.
    `joint`: the Eval-Prompts that rate several criteria in one answer.
    `given`: variable held fixed by default in correlations with these ratings: length, for automatic measures.
    `directions` of automatic measures, by judge: 1 = higher is better, -1 = lower is better, 0 = neither.
    `unasked`: planned repeats that have not been requested yet."""

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

    `frame` has a row per rating, with `COLUMNS`, `PANEL` where some rater has one, and `LABEL` where a criterion has
    labels. `stories`, by (dataset, story), has `STORY_COLUMNS` and possibly features. `labels` are scales, by (dataset,
    criterion in small letters). `panel` is the one to which human ratings were restricted; None for all people."""

    frame: pd.DataFrame
    stories: pd.DataFrame
    facts: tuple[RunFacts, ...]
    labels: Mapping[tuple[str, str], Scale] = field(default_factory=dict)
    panel: str | None = None


# Removes stories that a trained judge saw in training from that judge's ratings, with a note.


def trained_on(manifest: Mapping[str, Any], stories: Mapping[str, StoryRow], folder: Path) -> frozenset[str]:
    """Stories that the judge was trained on, or whose story-prompts were, by the manifest's short hashes. Raises
    RunFolderError where no story is left."""
    server = manifest.get("in_force", {}).get("server") or {}
    marks = frozenset(str(server.get("trained_on") or "").split())
    if not marks:
        return frozenset()
    gone = frozenset(
        row.story for row in stories.values() if any(mark in marks for mark in marks_of(row.story_prompt, row.text))
    )
    if gone and len(gone) == len(stories):
        raise RunFolderError(
            f"{folder}: {manifest.get('judge')} was trained on the story-prompts of all {len(stories)} stories, and "
            "nothing is left to say about it",
            hint="let it judge other stories; its card.json has its accuracy out of fold",
        )
    return gone


def about(judge: str, gone: frozenset[str], stories: Mapping[str, StoryRow]) -> list[str]:
    """A note on how many stories were left out because the judge was trained on their story-prompts."""
    if not gone:
        return []
    where = f"{judge} was trained on the story-prompts of {len(gone)} of these {len(stories)} stories"
    return [f"{where}: its rows about these are left out"]


# Panels (groups of raters, such as experts) in a ratings table: their names, and a note where panels are pooled.


def panels_in(frame: pd.DataFrame) -> tuple[str, ...]:
    """Sorted names of the raters' panels."""
    return tuple(sorted(str(name) for name in frame[PANEL].dropna().unique())) if PANEL in frame.columns else ()


def noted(frame: pd.DataFrame, facts: Sequence[RunFacts]) -> list[RunFacts]:
    """The facts, with a note that panels are pooled if the frame has any."""
    panel_names = panels_in(frame)
    return (
        [replace(fact, notes=(*fact.notes, pooled_note(panel_names))) for fact in facts] if panel_names else list(facts)
    )


def pooled_note(panels: Sequence[str]) -> str:
    """Note under every table that pools the ratings of several panels."""
    many = f"people of {len(panels)} panels" if len(panels) > 1 else "people of one panel"
    sentence = f"{many} ({', '.join(panels)}) are taken together with whoever has none"
    return Note(sentence, Advice("{panel} takes one alone, judge panels sets them side by side", panel=panels[0]))
