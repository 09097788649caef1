"""Options by which the user states the roles of a table's columns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GivenColumns:
    """Options of `judge check` that say which column of a table holds what; options that the user did not give are
    empty.

    `judge` and `human` are columns of ratings, each as COLUMN or CRITERION=COLUMN. In a table with one rating per row,
    `rater` is the column of raters' names, `rating` that of ratings, and `judge` lists the names that are judges. The
    columns of systems, story-prompts, criteria, stories, stories' texts and people's panels are `by`, `prompt`,
    `criterion`, `story`, `text` and `panel`. `labels` are the words used as ratings, lowest first, separated by commas.
    `missing` are words that stand for a missing rating, and `sheet` is the name of the sheet in a workbook.
    `number_repeats` says that several rows with ratings of one story by one judge are repeats. `positions` says that
    people's answers are in any order, so that a column does not belong to one person.
    """

    judge: tuple[str, ...] = ()
    human: tuple[str, ...] = ()
    criterion: str | None = None
    by: str | None = None
    story: str | None = None
    prompt: str | None = None
    text: str | None = None
    rater: str | None = None
    rating: str | None = None
    panel: str | None = None
    labels: str | None = None
    missing: tuple[str, ...] = ()
    sheet: str | None = None
    number_repeats: bool = False
    positions: bool = False
    """Whether people's columns are answers in any order, and not of a person each."""
