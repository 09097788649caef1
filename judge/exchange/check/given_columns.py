"""Options by which the user states the roles of a table's columns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GivenColumns:
    """Options of `judge check`; those that the user did not give are empty.

    `judge` and `human` are columns, perhaps as CRITERION=COLUMN; where `rater` and `rating` are columns, `judge` names
    those in the column of raters that are judges. `by` is the column of systems, `prompt` of story-prompts. `labels`
    are words that stand for ratings, lowest first, with commas between.
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
