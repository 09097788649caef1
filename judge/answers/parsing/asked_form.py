"""Checks whether an answer has the form that `structured` requested from the server."""

from __future__ import annotations

import re
from collections.abc import Sequence

import orjson

from judge.answers.parsing.ours.from_story import pattern_judgment
from judge.answers.parsing.ours.json_answer import NUMBERS, strict_json_judgment
from judge.answers.parsing.ours.label_statements import LABELS
from judge.answers.parsing.ours.mentions import number
from judge.answers.parsing.ours.parser import clean, refuses
from judge.answers.parsing.vocabulary import names
from judge.base.late_pattern import late
from judge.base.records import Asked, Criterion, Response, Structured

FORMS: dict[Structured, str] = {
    "choice": "one point of the scale and nothing else",
    "json": "one JSON object with the rating",
    "json-explanation-first": "one JSON object with the rating",
}
# The same of comparisons.
VERDICT_FORMS: dict[Structured, str] = {
    "choice": "one of the words of a verdict and nothing else",
    "json": "one JSON object with the verdict",
    "json-explanation-first": "one JSON object with the verdict",
}
# The same of several criteria in one answer.
JOINT_FORM = "one JSON object with a rating for each criterion"

# Finish reasons of an answer that was cut, blocked or broken, in the words of several servers.
_CUT = late(r"length|max_|filter|safety|block|prohibit|recitation|refus|error", re.IGNORECASE)


def has_asked_form(
    response: Response,
    asked: Asked,
    structured: Structured,
    rating_pattern: str | None = None,
    choices: Sequence[str] = (),
) -> bool | None:
    """Whether the whole answer has the form that `structured` requested, or matches `rating_pattern`. None where no
    form was requested, or the answer was cut, blocked or declined, so that its form says nothing."""
    if structured == "none":
        return None
    if _CUT.search(response.finish_reason or ""):
        return None
    text = clean(response.text).text.strip()
    if not isinstance(asked, Criterion):
        formed = _has_all(text, asked)
    elif choices:
        formed = _has_verdict(text, choices, structured)
    else:
        formed = _has_form(text, asked, structured)
        if not formed and rating_pattern is not None:
            formed = pattern_judgment(rating_pattern, text, asked.scale).status != "no_rating"
    if formed:
        return True
    return None if refuses(text.lower()) else False


def _has_form(text: str, criterion: Criterion, structured: Structured) -> bool:
    labels = criterion.scale.labels
    if structured == "choice" and labels:
        return criterion.scale.code_of(text) is not None
    if structured == "choice":
        value = number(text) if text.replace(".", "", 1).isdecimal() else None
        return value is not None and criterion.scale.on_step(value)
    # A rating off the scale is a wrong rating in the right form.
    reading = LABELS if labels else NUMBERS
    return strict_json_judgment(text, names(criterion.name, ()), criterion.scale, reading).status != "no_rating"


def _has_all(text: str, criteria: Sequence[Criterion]) -> bool:
    # The values need not be valid ratings.
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    names_given = {str(name).casefold() for name in value} if isinstance(value, dict) else set()
    return all(criterion.name.casefold() in names_given for criterion in criteria)


def _has_verdict(text: str, choices: Sequence[str], structured: Structured) -> bool:
    words = [choice.casefold() for choice in choices]
    if structured == "choice":
        return text.casefold() in words
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return isinstance(value, dict) and str(value.get("verdict")).casefold() in words
