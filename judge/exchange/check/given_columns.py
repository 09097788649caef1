"""Options by which the user states the roles of a table's columns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GivenColumns:
    """Options of `judge check` that say which column of a table holds what; empty if the user did not give them.

    `judge` and `human` are COLUMN or CRITERION=COLUMN. In a table with one rating per row, `rater` and `rating` are
    columns, and `judge` lists the names that are judges. `by` is the column of systems. `labels` are words, lowest
    first, separated by commas. `missing` are words for a missing rating. `number_repeats`: rows with ratings of one
    story by one judge are repeats. `positions`: people's answers are in any order, so that a column is not one
    person's."""

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
