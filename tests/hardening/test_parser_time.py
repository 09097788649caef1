"""Class 9: reading a megabyte of repeated patterns takes seconds, whatever it is made of."""

from __future__ import annotations

import time

import pytest

from judge.errors import JudgeError
from judge.parsing import parser
from judge.parsing.ours.rating_pattern import check_pattern
from judge.records import Criterion, Response

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


CLARITY = Criterion("Clarity", "CL", "how clear it is")


@pytest.mark.parametrize("what", PATTERNS)
def test_a_megabyte_is_read_in_a_few_seconds(what: str) -> None:
    # 2 s is what is wanted; 2.1 (slash) and 2.9 (bidirectional) were measured beside other work on two cores.
    text = (PATTERNS[what] * (1_000_000 // len(PATTERNS[what]) + 1))[:1_000_000]
    read = parser("ours")
    began = time.process_time()
    read.parse(Response(text, "stop"), CLARITY)
    assert time.process_time() - began < 6.0


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(a|a)*b", r"(.*)*x", r"^(\d+)*$"])
def test_a_rating_pattern_is_bounded(pattern: str) -> None:
    try:
        check_pattern(pattern, where="x")
    except JudgeError:
        return
    began = time.process_time()
    parser("ours").parse(Response("a" * 1_000_000 + "!", "stop"), CLARITY, rating_pattern=pattern)
    assert time.process_time() - began < 2.0
