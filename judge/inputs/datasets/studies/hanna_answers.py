"""Reads the HANNA study's raw answers: `answers[i][criterion]["Task k"][j]`, plain strings.

i is the story's index, "Task 0" to "Task 3" are Eval-Prompts 1 to 4, and j is the repeat (three in the study).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.base.errors import DataError, unknown
from judge.inputs.datasets.files.source_file import read_json
from judge.inputs.datasets.studies.hanna_scores import CRITERIA

EVAL_PROMPTS = {"Task 0": "ep1", "Task 1": "ep2", "Task 2": "ep3", "Task 3": "ep4"}


@dataclass(frozen=True, slots=True)
class HannaAnswer:
    """One answer of a language model in the HANNA study: the story's index, the criterion's full name, the Eval-Prompt
    (`ep1` to `ep4`), the repeat (from 0), and the answer's text.
    """

    story: int
    criterion: str
    eval_prompt: str
    repeat: int
    text: str


def read_answers(path: Path) -> Iterator[HannaAnswer]:
    """Every answer in a file of a language model's answers from the HANNA study, in the file's order, including empty
    strings.

    The outer level of the JSON file may be a list, or an object with the stories' indices as keys. Raises DataError for
    any other structure.
    """
    content = read_json(path)
    if isinstance(content, list):
        stories = list(enumerate(content))
    elif isinstance(content, dict):
        stories = [(_index(key, path), value) for key, value in content.items()]
    else:
        raise DataError("neither a list nor an object of stories", file=path, found=type(content).__name__)
    for story, criteria in stories:
        row = f"of story {story}"
        for criterion, tasks in _items(criteria, path, row):
            if criterion not in CRITERIA:
                raise DataError(unknown("criterion", criterion, CRITERIA), file=path, row=row)
            for task, texts in _items(tasks, path, f"{row}, {criterion}"):
                if task not in EVAL_PROMPTS:
                    raise DataError(unknown("task", task, EVAL_PROMPTS), file=path, row=row, column=criterion)
                yield from _answers(story, criterion, task, texts, path)


def _answers(story: int, criterion: str, task: str, texts: Any, path: Path) -> Iterator[HannaAnswer]:
    where = f"of story {story}, {criterion}, {task}"
    if not isinstance(texts, list):
        raise DataError("not a list of answers", file=path, row=where, found=texts)
    for repeat, text in enumerate(texts):
        if not isinstance(text, str):
            raise DataError("an answer that is not a text", file=path, row=where, column=str(repeat), found=text)
        yield HannaAnswer(story, criterion, EVAL_PROMPTS[task], repeat, text)


def _index(key: str, path: Path) -> int:
    if not (key.isascii() and key.isdecimal()):
        raise DataError("not a story's index", file=path, row=key, found=key, allowed="0, 1, 2, ...")
    return int(key)


def _items(value: Any, path: Path, row: str) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, Mapping):
        raise DataError("not an object", file=path, row=row, found=value)
    yield from value.items()
