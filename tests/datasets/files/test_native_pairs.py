"""Pairs and rankings in the native format: what is read, written again, and refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge.base.errors import DataError
from judge.base.records import Preference, Rating
from judge.cli.main import main
from judge.inputs.datasets import open_dataset

Write = Callable[[str, str | bytes], Path]
HEADER = {"pairs": True}


def _story(name: str, prompt: str = "p") -> dict[str, Any]:
    return {"id": name, "story_prompt": prompt, "system": "m", "text": f"text of {name}", "ratings": []}


def _file(write: Write, *lines: dict[str, Any]) -> str:
    return str(write("stories.jsonl", "\n".join(json.dumps(line) for line in lines)))


def _said(value: str, rater: str | None = None) -> dict[str, Any]:
    return {"rater": rater, "criterion": "Overall", "value": value}


def test_pairs_and_rankings_stand_among_stories(write: Write) -> None:
    path = _file(
        write,
        HEADER,
        {"pair": {"id": "one", "first": "b", "second": "a", "preferences": [_said("first"), _said("tie", "r1")]}},
        _story("a"),
        _story("b"),
        _story("c"),
        {"ranking": {"stories": [["a"], ["b", "c"]], "criterion": "Overall", "rater": "r2"}},
        {"pair": {"first": "c", "second": "a"}},
    )
    dataset = open_dataset(path)
    assert dataset.pairs is not None
    assert [story.id for story in dataset.stories()] == ["a", "b", "c"]
    one, two, three = dataset.pairs()
    assert (one.id, one.first, one.second, one.story_prompt) == ("one", "b", "a", "p")
    assert one.preferences == (
        Preference("Overall", "first", None),
        Preference("Overall", "tie", "r1"),
        Preference("Overall", "second", "r2"),  # the ranking has a before b, and this pair has b first
    )
    assert (two.first, two.second, two.preferences) == ("a", "c", (Preference("Overall", "first", "r2"),))
    assert (three.first, three.second, three.preferences) == ("b", "c", (Preference("Overall", "tie", "r2"),))


def test_a_file_without_the_header_has_no_pairs(write: Write) -> None:
    assert open_dataset(_file(write, _story("a"))).pairs is None
    path = _file(write, _story("a"), _story("b"), {"pair": {"first": "a", "second": "b"}})
    with pytest.raises(DataError, match="row 3: a comparison that the first line does not announce") as caught:
        list(open_dataset(path).stories())
    assert caught.value.hint == 'begin the file with the line {"pairs": true}'


def test_labels_and_pairs_share_a_header(write: Write) -> None:
    story = _story("a") | {"ratings": [{"criterion": "Plot", "value": "yes"}]}
    dataset = open_dataset(_file(write, {"labels": {"Plot": ["No", "Yes"]}, "pairs": True}, story))
    assert next(dataset.stories()).ratings == (Rating("Plot", 1.0),)
    assert dataset.pairs is not None
    assert list(dataset.pairs()) == []


def test_what_is_converted_reads_the_same(
    write: Write, tmp_path: Path, studies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_DATA", str(studies))
    for name in ("storyer_pairs", "storyer_reasons"):
        out = tmp_path / f"{name}.jsonl"
        with pytest.raises(SystemExit) as stop:
            main(["data", "convert", name, str(out)])
        assert not stop.value.code
        before, after = open_dataset(name), open_dataset(str(out))
        assert list(after.stories()) == list(before.stories())
        if before.pairs is None:
            assert after.pairs is None
        else:
            assert after.pairs is not None
            assert list(after.pairs()) == list(before.pairs())


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"pair": {"first": "a"}}, r"row 4, column 'pair\.second': the key is missing"),
        (
            {"pair": {"first": "a", "second": "b", "winner": "a"}},
            r"column 'pair\.winner': unknown key; allowed: id, first",
        ),
        (
            {"pair": {"first": "a", "second": "b", "preferences": [_said("A")]}},
            r"column 'pair\.preferences\.0\.value': not what .*; found 'A'; allowed: first, second, tie",
        ),
        ({"pair": {"first": "a", "second": "x"}}, "row 4, column 'pair': no story has this id; found 'x'"),
        ({"pair": {"first": "a", "second": "a"}}, "fewer than two stories, or one twice"),
        ({"pair": {"first": "a", "second": "other"}}, "stories for different story-prompts"),
        ({"ranking": {"stories": [["a"]], "criterion": "C"}}, "fewer than two stories, or one twice"),
        ({"ranking": {"stories": ["a", "b"], "criterion": "C"}}, r"column 'ranking\.stories\.0': not what .*a list"),
        ({"ranking": {"stories": [["a"], ["b"]]}}, r"column 'ranking\.criterion': the key is missing"),
    ],
)
def test_what_is_wrong_is_named(line: dict[str, Any], said: str, write: Write) -> None:
    path = _file(write, HEADER, _story("a"), _story("b"), line, _story("other", "another prompt"))
    dataset = open_dataset(path)
    assert dataset.pairs is not None
    with pytest.raises(DataError, match=said):
        list(dataset.pairs())


def test_a_person_says_one_thing_of_a_pair(write: Write) -> None:
    pair = {"pair": {"first": "a", "second": "b", "preferences": [_said("first", "r")]}}
    ranking = {"ranking": {"stories": [["b"], ["a"]], "criterion": "Overall", "rater": "r"}}
    dataset = open_dataset(_file(write, HEADER, _story("a"), _story("b"), pair, ranking))
    assert dataset.pairs is not None
    with pytest.raises(DataError, match="row 5: rater 'r' compared these stories on Overall before"):
        list(dataset.pairs())
