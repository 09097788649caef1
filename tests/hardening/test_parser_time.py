"""Class 9: the time of reading grows no faster than the text, whatever it is made of."""

from __future__ import annotations

import json

import pytest

from judge.answers.parsing import parser
from judge.answers.parsing.ours.from_story import check_pattern
from judge.backends.refusal_body import read_error_body
from judge.base.errors import JudgeError
from judge.base.records import Criterion, Response
from judge.inputs.text_features import own_features
from tests.growth import linear

PATTERNS = {
    "rating": "Rating: ",
    "rating and number": "Rating: 4\n",
    "out of": "4 out of 5 ",
    "slash": "4/5 ",
    "digits": "4",
    "slashes": "/",
    "blanks": " ",
    "line ends": "\n",
    "colons": ":",
    "stars": "*",
    "quotes": '"',
    "typographic quotes": "“",
    "braces": "{",
    "brackets": "[",
    "closing": "}",
    "objects": '{"rating": 4}',
    "open objects": '{"rating": ',
    "nested": '{"a":',
    "hyphens": "-",
    "ranges": "1-5, ",
    "words": "I would give it a four ",
    "hypothetical": "if it were better I would rate it 5 ",
    "others": "Other readers would say 3. ",
    "denied": "not a 4, ",
    "thinking": "<think>",
    "thought": "</think>",
    "fences": "```json\n",
    "rules": "---\n",
    "tables": "| 4 ",
    "points": "4.",
    "accents": "é",
    "combining": "e\u0301",
    "bidirectional": "\u202e4",
    "zero width": "\u200b",
    "nul": "\0",
}


SIZE = 400_000
CLARITY = Criterion("Clarity", "CL", "how clear it is")


@pytest.mark.parametrize("what", PATTERNS)
def test_400_000_characters_are_read_in_linear_time(what: str) -> None:
    text = (PATTERNS[what] * (SIZE // len(PATTERNS[what]) + 1))[:SIZE]
    assert linear(lambda size: parser("ours").parse(Response(text[:size], "stop"), CLARITY), len(text))


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(a|a)*b", r"(.*)*x", r"^(\d+)*$"])
def test_a_rating_pattern_is_bounded(pattern: str) -> None:
    try:
        check_pattern(pattern, where="x")
    except JudgeError:
        return
    assert linear(
        lambda size: parser("ours").parse(Response("a" * size + "!", "stop"), CLARITY, rating_pattern=pattern),
        1_000_000,
    )


def test_a_superscript_is_no_choice() -> None:
    for said in ("²", "４²", "³", "1²", "٣²", "①", "Ⅳ", "½"):
        judgment = parser("ours").parse(Response(said, "stop"), CLARITY, structured="choice")
        assert (judgment.rating, judgment.status) == (None, "no_rating"), said
        parser("ours").parse(Response(said, "stop"), CLARITY)


@pytest.mark.parametrize("code", ["²", "9" * 5000, "４００", "-1", "1e999", ""])
def test_a_servers_code_that_is_no_number_is_a_word(code: str) -> None:
    body = json.dumps({"error": {"code": code, "status": code, "message": "no"}}).encode()
    assert read_error_body(body).status in (None, 400)


@pytest.mark.parametrize(
    ("story", "prompt"),
    [("a", "a"), ("a b", "a c"), ("a", "a b"), ("a b a a b", "a b a"), ("x", "y"), ("a b c d", "d c b a")],
)
def test_surface_features_of_60000_characters_take_no_time(story: str, prompt: str) -> None:
    """Fragments copied from a story-prompt of the same few words took minutes."""
    texts = [(words + " ") * (60_000 // (len(words) + 1)) for words in (story, prompt)]
    assert linear(lambda size: own_features(*(text[:size] for text in texts)), 60_000)
