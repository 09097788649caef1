"""Stored answers, given again: from a result folder and from a file."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from judge.asking.execution.session import Sitting, sit
from judge.asking.run_definition.spec import load_run_spec
from judge.asking.run_folder import ResultFolder
from judge.backends import Settings, open_backend
from judge.base.errors import BackendError, DataError
from judge.base.records import Criterion, Generation, Query, Story
from judge.demo import run_demo
from judge.ratings.ratings_table import read


def query(criterion: str = "Coherence") -> Query:
    story = Story("a", "", "x", "text")
    return Query("b2:0", story, Criterion(criterion, "CH", "d"), "ep1", (), Generation())


def test_a_recorded_run_gives_the_table_of_the_run_it_repeats(tmp_path: Path) -> None:
    recorded, _ = run_demo(tmp_path / "demo", quiet=True)
    spec = load_run_spec(tmp_path / "demo" / "run.yaml", [f"judge=recorded/{recorded}"])
    again = ResultFolder(tmp_path / "again")
    assert sit(Sitting(spec, tmp_path, again, quiet=True)).missing == 0
    first, second = read([recorded]).frame, read([again.path]).frame
    columns = [c for c in first.columns if c != "judge"]
    assert first[columns].equals(second[columns])
    assert first["rating"].notna().all()


def test_a_file_of_answers(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    line = {
        "story": "a",
        "criterion": "Coherence",
        "eval_prompt": "ep1",
        "repeat": 0,
        "text": "4",
        "finish_reason": "stop",
    }
    path.write_text(json.dumps(line) + "\n\n")
    backend = open_backend(f"recorded/{path}", Settings())
    (answer,) = asyncio.run(backend.complete(query(), [0]))
    assert (answer.text, answer.finish_reason) == ("4", "stop")
    for missing, repeats in ((query("Empathy"), [0]), (query(), [0, 1])):
        with pytest.raises(BackendError, match="holds no answer") as caught:
            asyncio.run(backend.complete(missing, repeats))
        assert not caught.value.retryable


def test_what_is_not_a_recording_is_named_with_its_row(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text('{"story": "a"}\n')
    with pytest.raises(DataError, match="row 1: not a recorded answer"):
        open_backend(f"recorded/{path}", Settings())
    path.write_text("nonsense\n")
    with pytest.raises(DataError, match="row 1: not valid JSON"):
        open_backend(f"recorded/{path}", Settings())
    with pytest.raises(DataError, match="cannot be read"):
        open_backend(f"recorded/{tmp_path / 'none'}", Settings())
