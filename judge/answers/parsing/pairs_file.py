"""Parses answers that compare two stories from a JSON Lines file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.answers.parsing.answers_file import free_key, json_lines, text_key
from judge.answers.parsing.verdict import CHOICES, parse_verdict
from judge.base.errors import DataError
from judge.base.records import Response, Structured, Verdict

_OWN_KEYS = ("reasoning", "finish_reason", "labels", "tie_offered")
RESULT_KEYS = ("line", "preference", "status", "flags", "explanation")
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
    return [_answer(path, number, value, tuple(choices or CHOICES), criterion) for number, value in json_lines(path)]


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


def summary(parsed: Sequence[Compared]) -> str:
    """A sentence with the number of answers and the number with each status."""
    counts = Counter(compared.verdict.status for compared in parsed)
    parts = ", ".join(f"{count} {status}" for status, count in counts.most_common())
    return f"{len(parsed)} {'answer' if len(parsed) == 1 else 'answers'}: {parts}"


def _answer(
    path: Path, number: int, value: dict[str, Any], choices: tuple[str, ...], criterion: str | None
) -> ComparedLine:
    own_keys = (text_key(path, number, value), *_OWN_KEYS)
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
    labels = _labels(path, number, value["labels"]) if value.get("labels") is not None else choices
    passed = {free_key(key, value, RESULT_KEYS): item for key, item in value.items() if key not in own_keys}
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


def _labels(path: Path, number: int, value: Any) -> tuple[str, ...]:
    # Null as the third label means a tie without a label.
    labels = value[:_PAIR] if isinstance(value, list) and value[_PAIR:] in ([None], [""]) else value
    wrong = labels_fault(labels)
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


def labels_fault(labels: Any) -> str | None:
    """What is wrong with the labels of a comparison; None where they are valid."""
    if not isinstance(labels, list) or len(labels) not in (_PAIR, _WITH_TIE):
        return "is no list of two or three labels"
    if not all(isinstance(label, str) and label.strip() for label in labels):
        return "holds a label that is no text"
    if len({" ".join(label.lower().split()) for label in labels}) < len(labels):
        return "names one label twice"
    return None
