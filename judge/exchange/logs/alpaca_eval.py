"""Annotations of AlpacaEval (`annotations.json`), by judges or by people.

Format: https://github.com/tatsu-lab/alpaca_eval. Preference 1 means output_1, 2 means output_2, 1.5 (0 in older files)
a tie; another value between 1 and 2 is 1 plus the probability that output_2 is preferred. AlpacaEval shuffles which
output is shown first, and does not record the order."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from judge.base.errors import DataError
from judge.base.fingerprint import sha256_text
from judge.base.records import Preferred, VerdictStatus
from judge.exchange.logs.places import LogFacts, as_text
from judge.exchange.reader import Look, as_list, as_object, whole

# Types of rows for preference logs: a preference, or a placeholder for one that was lost.

# Reasons for which a log lacks a preference that it should have.
PreferenceLoss = Literal["error", "filtered", "unparsed", "missing", "defaulted", "inconsistent"]

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
    """One preference, or its `loss`; `judge` is None for people's. `second_share` is the probability that the second
    story is preferred; None where the log records only a choice."""

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
    """A tool whose preference logs can be read. `identified` describes where the log holds each field; `tried` is the
    version whose logs the tests read, and what was not tested; `orders`: whether logs record which text was shown
    first."""

    name: str
    text: str
    fits: Callable[[Look], bool]
    read: Callable[[Path, str, LogFacts], Iterator[PreferenceRow]]
    identified: Mapping[str, str]
    tried: str
    orders: Literal["both", "not told"]


# AlpacaEval writes a tie as 0 or as 1.5.
_TIES = (0.0, 1.5)

_NEEDED = ("instruction", "output_1", "output_2", "preference")
_MIDDLE = 1.5
_ANSWERS = ("raw_completion", "preference_raw_completion")


def fits(look: Look) -> bool:
    return look.has(*_NEEDED)


def read(file: Path, criterion: str, log_facts: LogFacts) -> Iterator[PreferenceRow]:
    """Preferences in one file of AlpacaEval's annotations, assigned to `criterion`."""
    for number, entry in enumerate(as_list(whole(file), "annotations", file), start=1):
        held = as_object(entry, file, number)
        missing = [name for name in _NEEDED if name not in held]
        if missing:
            raise DataError(f"is no annotation of AlpacaEval: it has no {missing[0]!r}", file=file, row=number)
        version = as_text(_none_if_nan(held.get("preference_version")))
        log_facts.version = version.partition("==")[2] or version if version else log_facts.version
        yield _row(file, number, held, criterion)


def _row(file: Path, number: int, held: Mapping[str, Any], criterion: str) -> PreferenceRow:
    prompt = "\n\n".join(filter(None, [as_text(held["instruction"]), as_text(held.get("input"))]))
    first, second = (_story(held, prompt, side) for side in (1, 2))
    who = held.get("annotator")
    people = isinstance(who, int) and not isinstance(who, bool)
    raw = next((_none_if_nan(held.get(name)) for name in _ANSWERS if name in held), None)
    row = PreferenceRow(
        number=number,
        story_prompt=prompt,
        first=first,
        second=second,
        criterion=criterion,
        judge=None if people else as_text(who) or "unnamed",
        rater=str(who) if people else None,
        explanation=None if people else as_text(raw),
    )
    asked = people or raw is not None or first.text != second.text
    return _preferred(file, row, _none_if_nan(held["preference"]), asked=asked)


def _preferred(file: Path, row: PreferenceRow, preference: Any, *, asked: bool) -> PreferenceRow:
    if preference is None:
        return replace(row, loss="unparsed" if row.explanation else "missing")
    if not isinstance(preference, int | float) or not (preference == 0 or 1 <= preference <= 2):
        raise DataError("is no preference", file=file, row=row.number, found=preference, allowed="null, 0, or 1 to 2")
    value = float(preference)
    if value in _TIES:
        return replace(row, preference="tie") if asked else replace(row, loss="defaulted")
    word: Preferred = "first" if value < _MIDDLE else "second"
    return replace(row, preference=word, second_share=None if value.is_integer() else value - 1)


def _story(held: Mapping[str, Any], prompt: str, side: int) -> LoggedStory:
    system = as_text(held.get(f"generator_{side}")) or f"output_{side}"
    text = as_text(held[f"output_{side}"])
    return LoggedStory(f"{system}/{sha256_text(prompt)[:12]}", system, text)


def _none_if_nan(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


ALPACA_EVAL = PreferenceTool(
    "alpaca-eval",
    "AlpacaEval's annotations as preferences; nulls and unoffered ties are lost",
    fits,
    read,
    {
        "story": "GENERATOR/ a hash of the instruction",
        "story-prompt": "the instruction, and its input",
        "judge": "the annotator by its name; annotators that are numbers are people",
        "order": "not recorded: AlpacaEval shuffles it, so the effect of the order cannot be computed",
    },
    "alpaca_eval 0.6.6",
    "not told",
)
