"""One score of another tool's log or the loss in its place, and facts that the log lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from judge.records import Scale, Status

Value = float | bool | str
"""A score as a log has it."""

Loss = Literal[
    "error",
    "filtered",
    "truncated",
    "unparsed",
    "refused",
    "empty",
    "no_answer",
    "missing",
    "defaulted",
    "out_of_range",
]
"""Reasons for which a log lacks a rating that it should have."""

STATUS: Mapping[Loss, Status] = {
    "error": "not_answered",
    "filtered": "filtered",
    "truncated": "truncated",
    "unparsed": "no_rating",
    "refused": "refused",
    "empty": "empty",
    "no_answer": "no_rating",
    "missing": "not_answered",
    "defaulted": "not_answered",
    "out_of_range": "out_of_scale",
}

WORDS: Mapping[Loss, str] = {
    "error": "the judge, or the tool, failed",
    "filtered": "a content filter stopped the answer, which is no rating",
    "truncated": "the answer was cut off",
    "unparsed": "no score could be read from the answer",
    "refused": "the judge refused",
    "empty": "the answer was empty",
    "no_answer": "the scorer found no answer to score",
    "missing": "the log holds neither a score nor a reason",
    "defaulted": "the tool wrote a default score in place of the judge's",
    "out_of_range": "the score lies outside the range that was to be rescaled",
}


@dataclass(frozen=True, slots=True)
class LogRow:
    """One score, or a placeholder for one that was lost.

    Exactly one of `value` and `loss` is there. `judge` is None of people's, `rater` where a person's name is not known.
    `number` is the record's place in its file, counted from 1. `repeat` is None where the log numbers none. `beside`
    says that a person's rating stood in the record of a score.
    """

    number: int
    story: str
    criterion: str
    value: Value | None = None
    loss: Loss | None = None
    judge: str | None = None
    rater: str | None = None
    people: bool = False
    repeat: int | None = None
    eval_prompt: str | None = None
    story_prompt: str | None = None
    system: str | None = None
    text: str | None = None
    explanation: str | None = None
    beside: bool = False


@dataclass(slots=True)
class LogFacts:
    """Facts about a log in addition to its rows: the tool's version, scales found in the log, and gaps.

    `untold` counts the sentences on gaps.
    """

    version: str | None = None
    labels: dict[str, Scale] = field(default_factory=dict)
    untold: Counter[str] = field(default_factory=Counter)


def loss_of(words: str) -> Loss:
    """Kind of loss behind an error message of a tool; a content filter is distinguished from a failure."""
    import orjson

    from judge.backends.server_refusals.kinds import read_refusal

    kind = read_refusal(400, {}, orjson.dumps({"error": {"message": words}})).kind
    return "filtered" if kind == "filtered" else "truncated" if kind == "truncated" else "error"
