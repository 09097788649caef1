"""The scripted judge: turns, matches, files."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from judge.backends import Settings, open_backend
from judge.backends.scripted import SCRIPTS, Line, Scripted, read_script
from judge.base.errors import BackendError, DataError, SpecError
from judge.base.records import Criterion, Generation, Message, Query, Story


def query(content: str = "Rate the story.") -> Query:
    return Query(
        key="b2:00",
        story=Story(id="s1", story_prompt="p", system="Human", text="A story."),
        criterion=Criterion("Coherence", "CH", "how much the story makes sense"),
        eval_prompt="ep1",
        messages=(Message("user", content),),
        generation=Generation(),
    )


def test_answers_come_in_turn_and_begin_again() -> None:
    judge = Scripted(["Rating: 1", "Rating: 2", "Rating: 3"])
    first = asyncio.run(judge.complete(query(), [0, 1]))
    second = asyncio.run(judge.complete(query(), [0, 1]))
    assert [r.text for r in first + second] == ["Rating: 1", "Rating: 2", "Rating: 3", "Rating: 1"]


def test_a_matching_answer_goes_before_an_answer_for_all() -> None:
    judge = Scripted([Line("Rating: 5", match="dragon"), "Rating: 2"])
    texts = [asyncio.run(judge.complete(query(said), [0]))[0].text for said in ("a dragon", "a lamp", "the dragon")]
    assert texts == ["Rating: 5", "Rating: 2", "Rating: 5"]


def test_no_fitting_answer_is_an_error_not_an_empty_answer() -> None:
    judge = Scripted([Line("Rating: 5", match="dragon")])
    with pytest.raises(BackendError, match="no answer that fits") as failed:
        asyncio.run(judge.complete(query("a lamp"), [0]))
    assert not failed.value.retryable


def test_reads_a_file(tmp_path: Path) -> None:
    script = tmp_path / "answers.jsonl"
    script.write_text(
        '{"text": "Rating: 4\\n\\nA tale", "finish_reason": "length"}\n\n'
        '{"text": "3", "match": "x", "reasoning": "hm"}\n'
    )
    assert read_script(script) == [
        Line("Rating: 4\n\nA tale", finish_reason="length"),
        Line("3", match="x", reasoning="hm"),
    ]
    opened = open_backend(f"scripted/{script}", Settings())
    assert asyncio.run(opened.probe())["answers"] == 2
    assert asyncio.run(opened.complete(query(), [0]))[0].finish_reason == "length"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"text": "3"}\n{"txt": "4"}\n', "row 2"),
        ('{"text": "3", "finish": "stop"}\n', "did you mean 'finish_reason'"),
        ('{"text": 3}\n', "column 'text'"),
        ('{"text": "3", "match": 4}\n', "column 'match'"),
        ("Rating: 3\n", "not JSON"),
        ("\n", "holds no answer"),
    ],
)
def test_a_bad_file_is_named_with_its_row(tmp_path: Path, content: str, said: str) -> None:
    script = tmp_path / "answers.jsonl"
    script.write_text(content)
    with pytest.raises(DataError, match=said):
        read_script(script)


def test_scripts_by_name() -> None:
    assert asyncio.run(open_backend("scripted/three", Settings()).complete(query(), [0]))[0].text == "Rating: 3"
    assert all(SCRIPTS.values())
    with pytest.raises(SpecError, match="did you mean 'points'"):
        open_backend("scripted/point", Settings())
    with pytest.raises(DataError, match="cannot be read"):
        open_backend("scripted/none.jsonl", Settings())
