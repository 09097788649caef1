"""Checks whether an answer has the form that was asked for: by `structured`, or by an Eval-Prompt's rating_pattern."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import orjson

from judge.answers.parsing import parser
from judge.answers.parsing.ours.from_story import captures, check_pattern, pattern_judgment
from judge.answers.parsing.ours.json_answer import NUMBERS, strict_json_judgment
from judge.answers.parsing.ours.label_statements import LABELS
from judge.answers.parsing.ours.mentions import number
from judge.answers.parsing.ours.parser import clean, refuses
from judge.answers.parsing.vocabulary import names
from judge.base.errors import JudgeError
from judge.base.late_pattern import late
from judge.base.records import Asked, Criterion, Response, Scale, Structured
from judge.inputs.eval_prompts import EvalPrompt, load_eval_prompt
from judge.inputs.eval_prompts.template import LABELS as OFFERED_LABELS

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


# Checks an Eval-Prompt's rating_pattern on its example answer, to detect a wrong pattern before the run.

# The example may be of any scale.
_ANY_SCALE = Scale(-1e9, 1e9)


def pattern_problems(file: Path) -> list[str]:
    """Problems with a file's `rating_pattern` and example answer, as sentences with its name. Empty where it has
    neither, or a rating is read from the example. A file that cannot be loaded is reported by
    `eval_prompts.check.problems`; examples with labels that depend on the criteria are not tried."""
    try:
        eval_prompt = load_eval_prompt(file)
    except JudgeError:
        return []
    pattern, example = eval_prompt.rating_pattern, eval_prompt.example_answer
    if pattern is not None:
        try:
            check_pattern(pattern, where=str(file))
        except JudgeError as error:
            return [str(error)]
        if example is None:
            return [f"{file}: has a rating_pattern, and no example_answer to try it on"]
    return [] if example is None else _trial(eval_prompt, example)


def _trial(eval_prompt: EvalPrompt, example: str) -> list[str]:
    pattern = eval_prompt.rating_pattern
    if OFFERED_LABELS in eval_prompt.body.uses and (pattern is None or captures(pattern, example)):
        # Which labels there are is known with the criteria alone.
        return []
    criterion = Criterion("Clarity", "CL", "", _ANY_SCALE)
    judgment = parser("ours").parse(Response(example), criterion, rating_pattern=eval_prompt.rating_pattern)
    if judgment.rating is not None:
        return []
    by = "by the rating_pattern " if eval_prompt.rating_pattern is not None else ""
    return [f"{eval_prompt.file}: no rating is read {by}from the example_answer {example!r} ({judgment.status})"]
