"""Labels as servers are asked for them, as answers keep to that form, and as token probabilities weigh them."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from typing import Any

import pytest

from judge.answers.parsing import parser
from judge.answers.parsing.asked_form import has_asked_form
from judge.answers.parsing.stored_answers import expected_judgment
from judge.backends.dialect import choices, request_fields, schema
from judge.backends.surface import SurfaceBackend
from judge.backends.surface.model import read_card, shipped_model
from judge.base.errors import BackendError
from judge.base.records import Criterion, Generation, Judgment, Message, Query, Response, Scale, Story, Structured

YES_NO = Criterion("Ending", "EN", "is it earned?", Scale.of_labels(["No", "Yes"]))
AGREE = replace(YES_NO, scale=Scale.of_labels(["Disagree", "Agree", "Strongly agree"]))
TONE = replace(YES_NO, scale=Scale.of_labels(["positive", "negative", "mixed"], ordered=False))
STORY = Story("s", "A lamp.", "model", "The lamp went out at nine. Mara waited on the stairs and counted to forty.")


def query(criterion: Criterion = YES_NO, structured: Structured = "none", *, why: bool = False) -> Query:
    messages = (Message("user", "?"),)
    return Query("k", STORY, criterion, "ep1", messages, Generation(), structured=structured, asks_explanation=why)


def test_a_server_is_sent_the_labels() -> None:
    assert choices(query(AGREE)) == ["Disagree", "Agree", "Strongly agree"]
    assert request_fields(query(structured="choice")) == {"structured_outputs": {"choice": ["No", "Yes"]}}
    asked = schema(query(structured="json-explanation-first", why=True))
    assert list(asked["properties"]) == ["explanation", "rating"]
    assert asked["properties"]["rating"] == {"type": "string", "enum": ["No", "Yes"]}
    assert choices(query(replace(YES_NO, scale=Scale(1, 2, 0.5)))) == ["1", "1.5", "2"]


@pytest.mark.parametrize(
    ("text", "structured", "formed", "label"),
    [
        ("Yes", "choice", True, "Yes"),
        (" no\n", "choice", True, "No"),
        ("Yes.", "choice", False, None),
        ("1", "choice", False, None),
        ('{"rating": "Yes"}', "json", True, "Yes"),
        ('{"explanation": "so no", "rating": "yes"}', "json-explanation-first", True, "Yes"),
        ('{"rating": "Maybe"}', "json", False, None),
        ("Answer: Yes", "json", False, None),
        ("I cannot answer that.", "choice", None, None),
    ],
)
def test_an_answer_has_the_form_or_not(
    text: str, structured: Structured, formed: bool | None, label: str | None
) -> None:
    assert has_asked_form(Response(text, "stop"), YES_NO, structured) is formed
    judgment = parser("ours").parse(Response(text, "stop"), YES_NO, structured=structured)
    assert YES_NO.scale.label_of(judgment.rating) == label


def test_a_pattern_captures_a_label() -> None:
    for text, pattern, label in (
        ("Verdict = 'yes'.", r"Verdict = (\S+)", "Yes"),
        ("Verdict = perhaps", r"Verdict = (\S+)", None),
        ('{"a": {"b": "NO"}}', "$.a.b", "No"),
        ('{"a": {"b": 1}}', "$.a.b", None),
    ):
        judgment = parser("ours").parse(Response(text, "stop"), YES_NO, rating_pattern=pattern)
        assert YES_NO.scale.label_of(judgment.rating) == label, text


def chat(*tokens: tuple[str, dict[str, float]]) -> dict[str, Any]:
    return {
        "content": [
            {
                "token": text,
                "logprob": math.log(others[text]),
                "top_logprobs": [{"token": t, "logprob": math.log(p)} for t, p in others.items()],
            }
            for text, others in tokens
        ]
    }


def judged(text: str, logprobs: Any, criterion: Criterion) -> Judgment:
    response = Response(text, "stop", logprobs=logprobs)
    return expected_judgment(parser("ours").parse(response, criterion), response, criterion.scale)


def test_of_two_labels_the_rating_is_the_share_of_the_second() -> None:
    found = judged("Yes", chat(("Yes", {"Yes": 0.6, " yes": 0.1, "No": 0.2, "Maybe": 0.05, "Y": 0.05})), YES_NO)
    assert found.rating == pytest.approx(0.7 / 0.9)
    assert found.flags == ("outside=0.050", "undecided=0.050")
    later = chat(("Answer", {"Answer": 1.0}), (":", {":": 1.0}), (" No", {" No": 0.75, " Yes": 0.25}))
    assert judged("Answer: No", later, YES_NO).rating == pytest.approx(0.25)


def test_labels_of_several_tokens_are_followed_along_what_was_emitted() -> None:
    tokens = (
        ("Strong", {"Strong": 0.5, "Agree": 0.25, "Dis": 0.25}),
        ("ly", {"ly": 1.0}),
        (" agree", {" agree": 0.75, " worded": 0.25}),
    )
    found = judged("Strongly agree", chat(*tokens), AGREE)
    assert found.rating == pytest.approx((0.375 * 2 + 0.25 * 1) / 0.625)
    assert found.flags == ("outside=0.125", "undecided=0.250")


def test_a_label_that_begins_another_ends_where_the_text_goes_on() -> None:
    scale = Scale.of_labels(["Agree", "Agree strongly"])
    tokens = (("Agree", {"Agree": 1.0}), (".", {".": 0.5, " strongly": 0.5}))
    assert judged("Agree.", chat(*tokens), replace(AGREE, scale=scale)).rating == pytest.approx(0.5)


def test_labels_without_an_order_keep_the_stated_one() -> None:
    found = judged("negative", chat(("negative", {"negative": 0.5, "mixed": 0.25, "none": 0.25})), TONE)
    assert (found.rating, found.flags) == (1, ("outside=0.250",))
    assert judged("negative", None, TONE).flags == ("no_logprobs",)


@pytest.mark.parametrize("structured", ["none", "choice", "json"])
def test_the_control_judge_answers_with_a_label(structured: Structured) -> None:
    backend = SurfaceBackend(read_card(shipped_model()))
    (response,) = asyncio.run(backend.complete(query(AGREE, structured, why=structured != "choice"), [0]))
    judgment = parser("ours").parse(response, AGREE, structured=structured)
    assert AGREE.scale.label_of(judgment.rating) in AGREE.scale.labels
    with pytest.raises(BackendError, match="labels of Ending have none"):
        asyncio.run(backend.complete(query(TONE, structured), [0]))
