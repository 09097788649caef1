"""JSON in answers that is nested deeper than it can be walked through."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from judge.answers.parsing.joint import joint_judgments
from judge.answers.parsing.ours import json_answer
from judge.answers.parsing.ours.json_answer import objects_in
from judge.answers.parsing.ours.parser import load
from judge.base.records import Criterion, Response, Structured

CRITERIA = (Criterion("Coherence", "CH", ""), Criterion("Empathy", "EM", ""))


@pytest.fixture(autouse=True)
def deep_decoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.12 and later parse JSON of thousands of levels; 3.11 stops where its own code stops."""
    loads = json.loads

    def deep(function: Any) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            limit = sys.getrecursionlimit()
            sys.setrecursionlimit(9000)
            try:
                return function(*arguments, **options)
            finally:
                sys.setrecursionlimit(limit)

        return call

    monkeypatch.setattr(json, "loads", deep(loads))
    deep_raw = deep(json_answer._DECODER.raw_decode)
    monkeypatch.setattr(json_answer, "_DECODER", SimpleNamespace(raw_decode=deep_raw))


@pytest.mark.parametrize("structured", ["none", "json", "json-explanation-first"])
@pytest.mark.parametrize("depth", [101, 1500, 3000])
def test_deep_json_ends_in_a_judgment(structured: Structured, depth: int) -> None:
    for inside in ('{"a":' * depth + "1" + "}" * depth, "[" * depth + "]" * depth):
        for answer in (f'{{"rating": 3, "x": {inside}}}', f'{{"Coherence": {inside}, "Empathy": 3}}'):
            judgment = load().parse(Response(answer), CRITERIA[0], structured=structured)
            # Without a form, JSON that cannot be read is running text.
            assert structured == "none" or judgment.rating is None
            joint_judgments(load(), Response(answer), CRITERIA)


def test_json_of_ordinary_depth_is_read() -> None:
    answer = '{"rating": 3, "x": ' + "[" * 50 + "]" * 50 + "}"
    assert load().parse(Response(answer), CRITERIA[0]).rating == 3
    assert len(list(objects_in(answer))) == 1
