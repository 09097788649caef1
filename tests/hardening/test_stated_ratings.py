"""Answers that name another scale, bound a rating, count ratings or say two things: none becomes a rating."""

from __future__ import annotations

import pytest

from judge.answers.parsing import parser
from judge.base.records import Criterion, Judgment, Response, Scale, Structured
from tests.growth import linear

OTHERS = ("Relevance", "Empathy", "Surprise", "Engagement", "Complexity")
COHERENCE = Criterion("Coherence", "CH", "how much the story makes sense", Scale())

NEVER_OK = (
    "Rating (out of 10): 4",
    "Score (out of 100): 4",
    "Rating (from 1 to 10): 4",
    "Rating (out of ten): 4",
    "Rating (/10): 4",
    "Rating [out of 10]: 4",
    "Rating (1-10): 4",
    "Coherence (1–7): 4",
    "Scale: 1-10\nRating: 4",
    "Out of 10, I give it a 4",
    "On a scale of 1-10: 4",
    "Using a 10-point scale, rating: 4",
    "Rating: 4 (out of 10)",
    "Rating: >3",
    "Rating: > 3",
    "Rating: <3",
    "Rating: ≥3",
    "Rating: ≤ 3",
    "Rating: >=3",
    ">3",
    "My rating is >3.",
    "I would rate it >3",
    "Rating: at least 3",
    "Rating: more than 3",
    "Rating: 3+",
)
NEVER_OK_JSON = (
    '{"rating":4,"scale":10}',
    '{"rating":4,"scale":"1-10"}',
    '{"rating":4,"scale":"out of 10"}',
    '{"rating":4,"rating_scale":"0-10"}',
    '{"rating":4,"scale":{"min":1,"max":10}}',
    '{"rating":{"value":4,"scale":10}}',
    '{"scale":10,"ratings":{"coherence":4}}',
    '{"rating":4,"out_of":10}',
    '{"confidence_score":5}',
    '{"number_of_ratings":5}',
    '{"num_ratings":5}',
    '{"rating_count":5}',
    '{"n_ratings":4}',
    '{"total_ratings":5}',
    '{"rating_id":3}',
    '{"rating_index":3}',
    '{"rating_version":2}',
    '{"rating":3,"rating":5}',
    '{"coherence":{"rating":2},"coherence":{"rating":4}}',
    '{"rating": ">3"}',
)
STATED = (
    ("Rating: 3\nConfidence: 4/5", 3),
    ("On a scale of 1-5: 4", 4),
    ("On a scale from 1-5: 4.", 4),
    ("On a scale of 1 to 5: 4", 4),
    ("Rating (1-5): 4", 4),
    ("Rating (out of 5): 4", 4),
    ("Rating: <3>", 3),
    ("<rating>3</rating>", 3),
    ("> Rating: 3", 3),
    ("Rating -> 3", 3),
    ("Rating: => 3", 3),
    ('{"rating":3,"rating":3}', 3),
    ('{"rating":4,"scale":"1-5"}', 4),
    ('{"rating":4,"scale":5}', 4),
    ('{"story_id": 4, "rating": 3}', 3),
)


def judged(text: str, structured: Structured = "none") -> Judgment:
    return parser("ours").parse(Response(text, "stop"), COHERENCE, other_criteria=OTHERS, structured=structured)


@pytest.mark.parametrize("text", [*NEVER_OK, *NEVER_OK_JSON])
def test_what_is_not_stated_is_no_rating(text: str) -> None:
    judgment = judged(text)
    assert judgment.status != "ok"
    assert judgment.rating is None


@pytest.mark.parametrize("text", NEVER_OK_JSON)
def test_nor_where_the_server_was_made_to_answer_in_json(text: str) -> None:
    assert judged(text, "json").rating is None


@pytest.mark.parametrize(("text", "rating"), STATED)
def test_what_is_stated_is_read(text: str, rating: float) -> None:
    judgment = judged(text)
    assert (judgment.status, judgment.rating) == ("ok", rating)


@pytest.mark.parametrize("piece", ["Rating (", "< ", "<" * 50 + ">3 ", "out of 10, ", "1-5 scale ", '{"scale":'])
def test_a_megabyte_of_what_opens_such_words_is_read_in_linear_time(piece: str) -> None:
    assert linear(lambda size: judged(piece * (size // len(piece)) + "3"), 1_000_000)


def test_deep_and_huge_json_is_no_rating() -> None:
    for text in ('{"scale":' * 900 + "1" + "}" * 900, '{"rating":4,"scale":1' + "0" * 400 + "}", '{"a":' * 100_000):
        assert judged(text).rating is None
        assert judged(text, "json").rating is None
