"""Types of rows for preference logs: a preference, or a placeholder for one that was lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from judge.base.records import Preferred, VerdictStatus
from judge.exchange.logs.row import LogFacts
from judge.exchange.reader.look import Look

PreferenceLoss = Literal["error", "filtered", "unparsed", "missing", "defaulted", "inconsistent"]
"""Reasons for which a log lacks a preference that it should have."""

STATUS: Mapping[PreferenceLoss, VerdictStatus] = {
    "error": "not_answered",
    "filtered": "filtered",
    "unparsed": "no_preference",
    "missing": "not_answered",
    "defaulted": "not_answered",
    "inconsistent": "ambiguous",
}

WORDS: Mapping[PreferenceLoss, str] = {
    "error": "the judge, or the tool, failed",
    "filtered": "a content filter stopped the answer, which is no preference",
    "unparsed": "no preference could be read from the answer",
    "missing": "the log holds neither a preference nor a reason",
    "defaulted": "the tool wrote a tie without asking, since both texts are the same",
    "inconsistent": "the log holds one word for two orders that contradict each other",
}


@dataclass(frozen=True, slots=True)
class LoggedStory:
    """One of two compared texts, as the log describes it. `system` is the model or person that wrote it."""

    id: str
    system: str
    text: str | None = None


@dataclass(frozen=True, slots=True)
class PreferenceRow:
    """Preference of one judge or one person, or a placeholder for a preference that was lost.

    Exactly one of `preference` and `loss` is set. `judge` is None for people's preferences. `second_share` is the
    probability that the second story is preferred; None where the log records only a choice.
    """

    number: int
    story_prompt: str
    first: LoggedStory
    second: LoggedStory
    criterion: str
    preference: Preferred | None = None
    loss: PreferenceLoss | None = None
    judge: str | None = None
    rater: str | None = None
    eval_prompt: str | None = None
    second_share: float | None = None
    explanation: str | None = None


@dataclass(frozen=True, slots=True)
class PreferenceTool:
    """A tool whose preference logs can be read by the function `read`. `text` is one line on them, and `fits` takes a
    look at a file and returns whether it is such a log. `identified` maps each field, such as the story
    or the judge, to a description of where the log holds it. `tried` is the tool's version whose logs the tests read,
    and what was not tested. `orders` is "both" if its logs record in which order the texts were shown, and "not told"
    if they do not.
    """

    name: str
    text: str
    fits: Callable[[Look], bool]
    read: Callable[[Path, str, LogFacts], Iterator[PreferenceRow]]
    identified: Mapping[str, str]
    tried: str
    orders: Literal["both", "not told"]
