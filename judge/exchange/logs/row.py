"""Types of rows for logs of scores: a score, or a placeholder for one that was lost, and facts that the log lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from judge.base.records import Scale, Status

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
    """One score, or a placeholder for a score that was lost.

    Exactly one of `value` and `loss` is set. `judge` is None for human ratings, `rater` where the person's name is not
    known. `number` is the record's position in its file, counted from 1. `repeat` is None where the log does not number
    repeats. `beside` says that a human rating was part of the record of a judge's score.
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
    """Facts on an evaluation tool's log, collected while its rows are read: the tool's version, the scales of labels
    found in the log, and what data it lacks.

    `untold` maps a sentence on missing data to the number of records that it applies to.
    """

    version: str | None = None
    labels: dict[str, Scale] = field(default_factory=dict)
    untold: Counter[str] = field(default_factory=Counter)


def loss_of(words: str) -> Loss:
    """Kind of loss that a tool's error message indicates: ``filtered`` (content filter), ``truncated``, or ``error``
    for any other failure.
    """
    import orjson

    from judge.backends.server_refusals.kinds import read_refusal

    kind = read_refusal(400, {}, orjson.dumps({"error": {"message": words}})).kind
    return "filtered" if kind == "filtered" else "truncated" if kind == "truncated" else "error"
