"""Reads ratings by an Eval-Prompt's own pattern: a regular expression with one group, or a JSON path.

Regular expressions are matched by RE2 in time linear in the length of the text, so no pattern and no answer can block a
table. RE2 has no look-around and no back-references; a pattern that needs them is refused when it is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any

from judge.answers.parsing.ours.explanation import tidy
from judge.answers.parsing.ours.from_story import stands_in, without_objects
from judge.answers.parsing.ours.json_answer import objects_in, stated_number
from judge.answers.parsing.ours.mentions import number
from judge.base.errors import SpecError
from judge.base.records import Judgment, Scale

_PATH = re.compile(r"\$(?:\.[^\W\d][\w-]*|\[\d+\]|\['[^']+'\]|\[\"[^\"]+\"\])+")
_STEP = re.compile(r"\.([^\W\d][\w-]*)|\[(\d+)\]|\['([^']+)'\]|\[\"([^\"]+)\"\]")
_JSON = ("$.", "$[")
_GROUP = "rating"
_AROUND_LABEL = " \t\n*_\"'`.,!()[]"
_Read = Callable[[str | float], float | None]
_EXAMPLES = "for example 'Final score: (\\d)' or '$.scores.coherence'"


def check_pattern(pattern: str, *, where: str) -> None:
    """Raise `SpecError` for a pattern that cannot be used; the message begins with `where`."""
    if pattern.startswith(_JSON):
        if _PATH.fullmatch(pattern) is None:
            raise SpecError(f"{where}: rating_pattern {pattern!r} is no JSON path", hint=f"write {_EXAMPLES}")
        return
    compiled = _compiled(pattern, where)
    if compiled.groups == 0 or (compiled.groups > 1 and _GROUP not in compiled.groupindex):
        raise SpecError(
            f"{where}: rating_pattern {pattern!r} has {compiled.groups} groups, and one must hold the rating",
            hint=f"put the number into one group, or name it (?P<{_GROUP}>...): {_EXAMPLES}",
        )


def pattern_judgment(pattern: str, text: str, scale: Scale, story: str = "") -> Judgment:
    """Judgment by a pattern that `check_pattern` accepted: `no_rating` without a match, `ambiguous` where matches
    differ.

    A match whose words occur in `story` counts as a quotation.
    """
    read = partial(_code, scale) if scale.labels else _number_of
    matcher = _json_matches if pattern.startswith(_JSON) else _matches
    own = without_objects(story, text) if matcher is _json_matches else text
    all_matches = list(matcher(pattern, own, read))
    matches = [match for match in all_matches if not story or not stands_in(story, text[slice(*match[2])])]
    if not matches and (all_matches or (own != text and any(matcher(pattern, text, read)))):
        return Judgment("ambiguous", flags=("quoted",))
    values = {value for value, _, _ in matches}
    if not values:
        return Judgment("no_rating")
    if len(values) > 1:
        return Judgment("ambiguous")
    value, span, whole = matches[-1]
    if value not in scale:
        return Judgment("out_of_scale")
    begin, end = whole
    return Judgment("ok", value, (), tidy(text[:begin], text[end:]), span)


def captures(pattern: str, text: str) -> bool:
    """Whether a pattern captures text other than whitespace in an answer. Used where the labels of the scale are not
    known yet.
    """
    matches = _json_matches if pattern.startswith(_JSON) else _matches
    return any(True for _ in matches(pattern, text, lambda found: 0.0 if str(found).strip() else None))


def _matches(pattern: str, text: str, read: _Read) -> Iterator[tuple[float, tuple[int, int] | None, tuple[int, int]]]:
    """(value, span of the rating, span of the whole match) for each match of the pattern. Matches are left out where
    the function `read` finds no rating in the text that the pattern's group captured.
    """
    compiled = _compiled(pattern, "rating_pattern")
    group = compiled.groupindex.get(_GROUP, 1)
    for match in compiled.finditer(text):
        literal = (match.group(group) or "").strip().lower()
        value = read(literal)
        if value is not None:
            yield value, match.span(group), match.span()


def _json_matches(path: str, text: str, read: _Read) -> Iterator[tuple[float, None, tuple[int, int]]]:
    for item in objects_in(text):
        value: Any = item
        for step in _STEP.finditer(path):
            value = _step(value, step)
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            continue
        stated = read(value)
        if stated is not None:
            yield stated, None, (len(text), len(text))


def _step(value: Any, step: re.Match[str]) -> Any:
    """The value one step further along a JSON path; None where the path ends."""
    name, index = step[1] or step[3] or step[4], step[2]
    if index is not None:
        return value[int(index)] if isinstance(value, list) and int(index) < len(value) else None
    return value.get(name) if isinstance(value, dict) else None


def _number_of(text: str | float) -> float | None:
    return _number(text.strip().lower()) if isinstance(text, str) else stated_number(text)


def _code(scale: Scale, text: str | float) -> float | None:
    """Code (number) of the scale's label that a pattern captured, without regard to quotation marks, markup and a full
    stop around it; None for other texts.
    """
    code = scale.code_of(text.strip(_AROUND_LABEL)) if isinstance(text, str) else None
    return None if code is None else float(code)


def _number(literal: str) -> float | None:
    try:
        return number(literal) if literal else None
    except ValueError:
        return None


@lru_cache(maxsize=64)
def _compiled(pattern: str, where: str) -> Any:
    import re2

    try:
        options = re2.Options()
        options.log_errors = False
        return re2.compile(pattern, options)
    except re2.error as error:
        message = error.args[0] if error.args else ""
        reason = message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)
        raise SpecError(
            f"{where}: rating_pattern {pattern!r} is no regular expression that RE2 knows: {reason}",
            hint="look-around and back-references are not known; close every group and bracket",
        ) from error
