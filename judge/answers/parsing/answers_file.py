"""Parses answers, with ratings or preferences, from a JSON Lines file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from judge.answers.parsing import Parser
from judge.answers.parsing.joint import joint_judgments
from judge.answers.parsing.verdict import CHOICES, parse_verdict
from judge.base.errors import DataError, SpecError
from judge.base.foreign import whole_escapes
from judge.base.late_pattern import late
from judge.base.records import Criterion, Judgment, Response, Scale, Structured, Verdict
from judge.base.wording import Advice, joined
from judge.inputs.datasets.files.encoding import encoding_of
from judge.inputs.prompt_file import labels_fault

_SCALE = late(r"(-?\d+(?:\.\d+)?)\s*(?:-|–|to|\.\.)\s*(-?\d+(?:\.\d+)?)(?:\s*/\s*(\d+(?:\.\d+)?))?\Z")
_OWN_KEYS = ("text", "reasoning", "finish_reason")
_TEXTS = ("text", "response", "completion", "raw_response", "raw_output")

# Columns that every table of parsed answers has.
RESULT_KEYS = ("line", "rating", "status", "flags", "explanation")

# The column of a rating's label, where labels are asked for.
LABEL = "label"


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """A line of a file of answers. `passed` is copied to the result; `story` is the judged text. An answer about
    several criteria has one line for each, and `together` lists them all."""

    line: int
    response: Response
    criterion: Criterion
    passed: dict[str, Any]
    story: str = ""
    rating_pattern: str | None = None
    together: tuple[Criterion, ...] = ()


@dataclass(frozen=True, slots=True)
class Parsed:
    """One line of a file of answers with the parser's judgment."""

    answer: AnswerLine
    judgment: Judgment

    def row(self) -> dict[str, Any]:
        """The line as a flat row: line number, copied keys, rating, label (on labels), status, flags and
        explanation."""
        judgment, scale = self.judgment, self.answer.criterion.scale
        result = {
            "rating": judgment.rating,
            **({LABEL: scale.label_of(judgment.rating)} if scale.labels else {}),
            "status": judgment.status,
            "flags": ";".join(judgment.flags),
            "explanation": judgment.explanation,
        }
        return {"line": self.answer.line, **self.answer.passed, **result}


def parse_scale(text: str, *, where: str = Advice("{scale}")) -> Scale:
    """The scale written as `1-5` or `1-5/0.5`. Raises `SpecError` for other texts, which begins with `where`."""
    match = _SCALE.match(text.strip())
    low, high, step = (float(part) for part in match.groups(default="1")) if match else (0.0, 0.0, 1.0)
    if low >= high or step <= 0:
        raise SpecError(
            joined(where, f" {text!r} is no scale"), hint="write lowest-highest, e.g. 1-5, or 1-5/0.5 with a step"
        )
    return Scale(low, high, step)


def parse_labels(text: str, positive: str | None = None) -> Scale:
    """The scale of labels written as `No,Yes`, the lowest first. Raises `SpecError` for invalid labels."""
    labels = [" ".join(part.split()) for part in text.split(",")]
    if (wrong := labels_fault(labels, positive)) is not None:
        option, _, complaint = wrong.partition(" ")
        named = joined(Advice(f"{{{option}}}"), f" {complaint}")
        raise SpecError(named, hint="write labels with commas between them, the lowest first, e.g. No,Yes")
    scale = Scale.of_labels(labels)
    return scale if positive is None else Scale.of_labels(labels, positive=scale.label_of(scale.code_of(positive)))


def read_answers(
    path: Path, criterion: str | None, scale: Scale, rating_pattern: str | None = None
) -> list[AnswerLine]:
    """All answers of a file. A line's own `criterion` and `scale` replace those given; the text is in `text` or else
    `response`. A rating whose words occur in a line's `story` is a quotation. Raises `DataError` with file, line and
    key."""
    return [
        replace(_answer(path, number, value, criterion, scale), rating_pattern=rating_pattern)
        for number, value in json_lines(path)
    ]


def parse_answers(answers: Sequence[AnswerLine], parser: Parser, structured: Structured) -> list[Parsed]:
    """The parser's judgment on every answer. Ratings of the file's other criteria are not used for an answer's own. An
    answer about several criteria is read once: its lines follow each other, in the order of the criteria."""
    names = sorted({answer.criterion.name for answer in answers} - {""})
    others = {name: tuple(n for n in names if n != name) for name in ["", *names]}
    parsed: list[Parsed] = []
    for answer in answers:
        if answer.together:
            index = answer.together.index(answer.criterion)
            if index == 0:
                each = joint_judgments(parser, answer.response, answer.together, story=answer.story)
            parsed.append(Parsed(answer, each[index]))
            continue
        judgment = parser.parse(
            answer.response,
            answer.criterion,
            structured=structured,
            other_criteria=others[answer.criterion.name] if answer.criterion.name else (),
            story=answer.story,
            rating_pattern=answer.rating_pattern,
        )
        parsed.append(Parsed(answer, judgment))
    return parsed


def differing(first: Sequence[Parsed], second: Sequence[Parsed]) -> list[tuple[Parsed, Parsed]]:
    """Pairs of results for the same line, from two parses of one file, whose ratings or statuses differ."""
    pairs = zip(first, second, strict=True)
    return [
        (a, b) for a, b in pairs if (a.judgment.rating, a.judgment.status) != (b.judgment.rating, b.judgment.status)
    ]


def summary(statuses: Sequence[str]) -> str:
    """One sentence with the number of answers and the number with each status."""
    parts = ", ".join(f"{count} {status}" for status, count in Counter(statuses).most_common())
    return f"{len(statuses)} {'answer' if len(statuses) == 1 else 'answers'}: {parts}"


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number, object) for each line of a JSON Lines file. Raises `DataError` with file and line."""
    try:
        content = path.read_bytes().decode(encoding_of(path))
    except UnicodeDecodeError as error:
        raise DataError("is not UTF-8", file=path, found=f"byte {error.start}", hint="convert it to UTF-8") from error
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", file=path) from error
    has_lines = False
    # Not splitlines(): texts may hold U+2028 and its like, which JSON need not escape.
    for number, line in enumerate(content.split("\n"), start=1):
        if not line.strip():
            continue
        has_lines = True
        try:
            value = json.loads(whole_escapes(line))
        except (ValueError, RecursionError) as error:
            raise DataError("is not JSON", file=path, row=number, found=line[:80]) from error
        if not isinstance(value, dict):
            raise DataError("is not a JSON object", file=path, row=number, found=value)
        yield number, value
    if not has_lines:
        raise DataError("holds no answers", file=path, hint='write one {"text": "..."} a line')


def text_key(path: Path, number: int, value: dict[str, Any]) -> str:
    """The key of an answer's text: `text`, else `response`, `completion`, ... Raises `DataError` for a line without."""
    key = next((key for key in _TEXTS if key in value), None)
    if key is None:
        raise DataError("has no text", file=path, row=number, column="text", allowed="a string")
    return key


def _answer(path: Path, number: int, value: dict[str, Any], criterion: str | None, scale: Scale) -> AnswerLine:
    key_of_text = text_key(path, number, value)
    own_keys = (key_of_text, *_OWN_KEYS[1:])
    for key in (*own_keys, "criterion"):
        if value.get(key) is not None and not isinstance(value[key], str):
            raise DataError("is not text", file=path, row=number, column=key, found=value[key], allowed="a string")
    name = value.get("criterion") or criterion or ""
    own = _own_scale(path, number, value["scale"]) if value.get("scale") is not None else scale
    taken = (*RESULT_KEYS, LABEL) if own.labels else RESULT_KEYS
    passed = {free_key(key, value, taken): item for key, item in value.items() if key not in own_keys}
    if name:
        passed["criterion"] = name
    return AnswerLine(
        number,
        # null is what an API returns for an answer without content
        Response(value[key_of_text] or "", value.get("finish_reason"), value.get("reasoning")),
        Criterion(name, name[:2].upper(), "", own),
        passed,
        value["story"] if isinstance(value.get("story"), str) else "",
    )


def _own_scale(path: Path, number: int, value: Any) -> Scale:
    text = "-".join(str(part) for part in value[:2]) if isinstance(value, list) and len(value) == 2 else value
    if not isinstance(text, str):
        raise DataError("is no scale", file=path, row=number, column="scale", found=value, allowed='"1-5" or [1, 5]')
    return parse_scale(text, where=f"{path}, row {number}, scale")


def free_key(key: str, value: dict[str, Any], taken: Sequence[str]) -> str:
    """`key`, or with `given_` before it where it collides with a key of results in `taken`."""
    if key not in taken:
        return key
    given = f"given_{key}"
    while given in value:
        given = f"given_{given}"
    return given


# Answers that compare two stories.

_PAIRS_FILE_OWN_KEYS = ("reasoning", "finish_reason", "labels", "tie_offered")
PAIR_RESULT_KEYS = ("line", "preference", "status", "flags", "explanation")
_PAIR, _WITH_TIE = 2, 3


@dataclass(frozen=True, slots=True)
class ComparedLine:
    """A line of a file of comparisons, with the labels offered. `passed` is copied to the output; `stories` are the
    compared texts, empty where unknown."""

    line: int
    response: Response
    choices: tuple[str, ...]
    tie_offered: bool
    criterion: str
    passed: dict[str, Any]
    stories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Compared:
    answer: ComparedLine
    verdict: Verdict

    def row(self) -> dict[str, Any]:
        """The parsed line as a flat row: line number, copied keys, preference, status, flags and explanation."""
        verdict = self.verdict
        return {
            "line": self.answer.line,
            **self.answer.passed,
            "preference": verdict.preference,
            "status": verdict.status,
            "flags": ";".join(verdict.flags),
            "explanation": verdict.explanation,
        }


def read_comparisons(
    path: Path, choices: Sequence[str] | None = None, criterion: str | None = None
) -> list[ComparedLine]:
    """All answers of a file. A line's own `labels` and `criterion` replace those given. A tie is offered if
    `tie_offered` says so or, without it, a third label is there. Raises `DataError` with file, line and key."""
    return [
        _compared_line(path, number, value, tuple(choices or CHOICES), criterion) for number, value in json_lines(path)
    ]


def parse_comparisons(answers: Sequence[ComparedLine], structured: Structured) -> list[Compared]:
    return [
        Compared(
            answer,
            parse_verdict(
                answer.response,
                answer.choices,
                tie_offered=answer.tie_offered,
                structured=structured,
                criterion=answer.criterion,
                stories=answer.stories,
            ),
        )
        for answer in answers
    ]


def _compared_line(
    path: Path, number: int, value: dict[str, Any], choices: tuple[str, ...], criterion: str | None
) -> ComparedLine:
    own_keys = (text_key(path, number, value), *_PAIRS_FILE_OWN_KEYS)
    for key in (own_keys[0], "reasoning", "finish_reason", "criterion"):
        if value.get(key) is not None and not isinstance(value[key], str):
            raise DataError("is not text", file=path, row=number, column=key, found=value[key], allowed="a string")
    offered = value.get("tie_offered")
    if offered is not None and not isinstance(offered, bool):
        raise DataError(
            "is neither true nor false",
            file=path,
            row=number,
            column="tie_offered",
            found=offered,
            allowed="true, false",
        )
    labels = _pair_labels(path, number, value["labels"]) if value.get("labels") is not None else choices
    passed = {free_key(key, value, PAIR_RESULT_KEYS): item for key, item in value.items() if key not in own_keys}
    return ComparedLine(
        number,
        # null is what an API returns for an answer without content
        Response(value[own_keys[0]] or "", value.get("finish_reason"), value.get("reasoning")),
        labels,
        len(labels) > _PAIR if offered is None else offered,
        value.get("criterion") or criterion or "",
        passed,
        tuple(value[key] for key in ("first", "second") if isinstance(value.get(key), str)),
    )


def _pair_labels(path: Path, number: int, value: Any) -> tuple[str, ...]:
    # Null as the third label means a tie without a label.
    labels = value[:_PAIR] if isinstance(value, list) and value[_PAIR:] in ([None], [""]) else value
    wrong = pair_labels_fault(labels)
    if wrong is not None:
        raise DataError(
            wrong,
            file=path,
            row=number,
            column="labels",
            found=value,
            allowed='[first, second, tie], e.g. ["A", "B", "C"]',
        )
    return tuple(labels)


def pair_labels_fault(labels: Any) -> str | None:
    """What is wrong with the labels of a comparison; None where they are valid."""
    if not isinstance(labels, list) or len(labels) not in (_PAIR, _WITH_TIE):
        return "is no list of two or three labels"
    if not all(isinstance(label, str) and label.strip() for label in labels):
        return "holds a label that is no text"
    if len({" ".join(label.lower().split()) for label in labels}) < len(labels):
        return "names one label twice"
    return None
