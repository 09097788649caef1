"""The study's raw answers, in their documented shape."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.base.errors import DataError
from judge.inputs.datasets.studies.hanna import HannaAnswer, read_answers

ANSWERS = {
    "Relevance": {
        "Task 0": [" 4\n\n", " 4", ""],
        "Task 2": [" 2 — The story only has a weak relationship with the prompt."],
    },
    "Complexity": {"Task 3": ["3"]},
}


@pytest.mark.parametrize("outer", [[ANSWERS, {}], {"0": ANSWERS, "1": {}}])
def test_every_answer_is_given_as_stored(outer: object, write: Callable[[str, str], Path]) -> None:
    assert list(read_answers(write("answers.json", json.dumps(outer)))) == [
        HannaAnswer(0, "Relevance", "ep1", 0, " 4\n\n"),
        HannaAnswer(0, "Relevance", "ep1", 1, " 4"),
        HannaAnswer(0, "Relevance", "ep1", 2, ""),
        HannaAnswer(0, "Relevance", "ep3", 0, " 2 — The story only has a weak relationship with the prompt."),
        HannaAnswer(0, "Complexity", "ep4", 0, "3"),
    ]


@pytest.mark.parametrize(
    ("outer", "sentence"),
    [
        ("x", "neither a list nor an object"),
        ({"one": {}}, "not a story's index"),
        ([{"Relevence": {}}], "of story 0: criterion 'Relevence' is not known; did you mean 'Relevance'"),
        ([{"Relevance": {"Task 4": []}}], "task 'Task 4' is not known"),
        ([{"Relevance": {"Task 0": "4"}}], "of story 0, Relevance, Task 0: not a list of answers"),
        ([{"Relevance": {"Task 0": [4]}}], "column '0': an answer that is not a text; found 4"),
        ([[]], "of story 0: not an object"),
    ],
)
def test_another_shape_is_named(outer: object, sentence: str, write: Callable[[str, str], Path]) -> None:
    with pytest.raises(DataError, match=sentence):
        list(read_answers(write("answers.json", json.dumps(outer))))
