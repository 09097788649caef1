r"""Half surrogate pairs in answers: models that are stopped inside an emoji write `"\ud83d"` and no second half."""

from __future__ import annotations

import json
import math
import re

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.answers.parsing import parser
from judge.base.foreign import json_value, whole_characters, whole_escapes
from judge.base.records import Criterion, Response, Scale

ANY = st.text(st.characters(exclude_categories=()), max_size=20)
"""Texts of any code points, halves of pairs among them."""
HALVES = st.lists(st.sampled_from(["\ud83d", "\ude00", "\\", '"', "u", "d83d", "x", "é", "😀"]), max_size=12).map(
    "".join
)


@given(ANY | HALVES)
def test_texts_become_whole_and_whole_texts_stay(text: str) -> None:
    whole = whole_characters(text)
    whole.encode()
    assert whole_characters(whole) == whole
    assert whole == text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@given(ANY | HALVES)
def test_json_is_read_as_its_text_made_whole(text: str) -> None:
    lower = json.dumps({"a": text})
    for written in (lower, re.sub(r"(?<=\\u)[0-9a-f]{4}", lambda digits: digits[0].upper(), lower)):
        repaired = whole_escapes(written)
        assert len(repaired) == len(written)
        # Python's reader joins two halves that are escaped side by side, as `whole_characters` does.
        assert json.loads(repaired) == {"a": whole_characters(json.loads(written)["a"])}
        assert json_value(written.encode()) == json.loads(repaired)


@pytest.mark.parametrize("raw", [b"", b"{", b'{"a": "\\ud83d"', b'{"a": "\\ud83d \xff"}', b'{"a": "\xff"}', b'"\\u12"'])
def test_what_is_no_json_stays_an_error(raw: bytes) -> None:
    with pytest.raises(orjson.JSONDecodeError):
        json_value(raw)


def test_an_explanation_is_whole() -> None:
    criterion = Criterion("Coherence", "CH", "", Scale(1, 5))
    for structured in ("none", "json"):
        answer = Response('{"rating": 4, "explanation": "A nice end \\ud83d\\ude00, then \\ud83b"}')
        judgment = parser("ours").parse(answer, criterion, structured=structured)
        assert (judgment.rating, judgment.explanation) == (4, "A nice end 😀, then \ufffd")


def test_numbers_that_json_does_not_have_are_read_as_floats() -> None:
    value = json_value(b'{"a": NaN, "b": [-Infinity, 1e400], "c": "ok"}')
    assert math.isnan(value["a"])
    assert value["b"] == [-math.inf, math.inf]
    for text in (b'{"a": nan}', b"[" * 100_000, b'{"a": ' + b"9" * 5_000 + b"}x", b"\xff"):
        with pytest.raises(orjson.JSONDecodeError):
            json_value(text)
