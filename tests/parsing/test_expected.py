"""Expected ratings from log-probabilities: worked examples in both forms, and everything that has none."""

from __future__ import annotations

import math
from typing import Any

import pytest

from judge.answers.parsing import parser
from judge.answers.parsing.answer_tokens import read_tokens
from judge.answers.parsing.stored_answers import expected_judgment
from judge.base.records import Criterion, Judgment, Response, Scale

FIVE = Criterion("Overall", "OV", "", Scale(1, 5))
TEN = Criterion("Overall", "OV", "", Scale(1, 10))
HALF = Criterion("Overall", "OV", "", Scale(1, 5, 0.5))


def chat(*tokens: tuple[str, dict[str, float]]) -> dict[str, Any]:
    """The chat API's form: each emitted token with its alternatives' probabilities."""
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


def judged(text: str, logprobs: Any, criterion: Criterion = FIVE) -> Judgment:
    response = Response(text, "stop", logprobs=logprobs)
    return expected_judgment(parser("ours").parse(response, criterion), response, criterion.scale)


def test_the_expected_value_is_over_the_mass_on_the_scale() -> None:
    found = judged("4", chat(("4", {"4": 0.5, "5": 0.2, "3": 0.1, "The": 0.1, "9": 0.05})))
    assert found.status == "ok"
    assert found.rating == pytest.approx((4 * 0.5 + 5 * 0.2 + 3 * 0.1) / 0.8)
    assert found.flags == ("outside=0.200",)


def test_a_leading_space_is_the_same_point() -> None:
    text = "Rating: 4"
    found = judged(text, chat(("Rating:", {"Rating:": 1.0}), (" 4", {" 4": 0.6, "4": 0.2, " 2": 0.2})))
    assert found.rating == pytest.approx(4 * 0.8 + 2 * 0.2)


def test_the_place_is_where_the_rating_is_stated_not_the_first_number() -> None:
    sure = {" 1": 1.0}
    tokens = [("On a scale of", {"On a scale of": 1.0}), (" 1", sure), (" to", {" to": 1.0}), (" 5", {" 5": 1.0})]
    tokens += [(", I rate it", {", I rate it": 1.0}), (" 3", {" 3": 0.75, " 4": 0.25}), (".", {".": 1.0})]
    found = judged("On a scale of 1 to 5, I rate it 3.", chat(*tokens))
    assert found.rating == pytest.approx(3.25)


def test_tokens_after_the_answer_are_no_part_of_it() -> None:
    """vLLM lists the token that ends an answer, and those of the stop string at which it cut."""
    four = ("4", {"4": 0.75, "5": 0.25})
    for end in ("<|end|>", "\n\nStory"):
        assert judged("4", chat(four, (end, {end: 1.0}))).rating == pytest.approx(4.25)
    one = judged("1", chat(("1", {"1": 1.0}), ("<|end|>", {"<|end|>": 0.75, "0": 0.25})), TEN)
    assert one.rating == pytest.approx(1 * 0.75 + 10 * 0.25)
    assert judged("4", chat(("5", {"5": 1.0}), ("4", {"4": 1.0}))).status == "no_rating"


def test_ten_of_two_tokens_is_followed_along_what_was_emitted() -> None:
    tokens = [("1", {"1": 0.6, "9": 0.4}), ("0", {"0": 0.75, "\n": 0.25})]
    found = judged("10", chat(*tokens), TEN)
    assert found.rating == pytest.approx(10 * 0.6 * 0.75 + 1 * 0.6 * 0.25 + 9 * 0.4)
    assert found.flags == ("outside=0.000",)


def test_a_token_that_could_begin_two_points_and_was_not_emitted_is_undecided() -> None:
    found = judged("9", chat(("9", {"9": 0.7, "1": 0.3})), TEN)
    assert found.rating == pytest.approx(9)
    assert found.flags == ("outside=0.000", "undecided=0.300")


def test_half_points() -> None:
    tokens = [("4", {"4": 1.0}), (".", {".": 0.5, " ": 0.5}), ("5", {"5": 1.0})]
    assert judged("4.5", chat(*tokens), HALF).rating == pytest.approx(4.25)


def test_completions_form_and_plain_lists() -> None:
    logprobs = {
        "tokens": [" 4"],
        "token_logprobs": [math.log(0.5)],
        "top_logprobs": [{" 4": math.log(0.5), " 2": math.log(0.5)}],
    }
    assert judged(" 4", logprobs).rating == pytest.approx(3.0)
    assert read_tokens(None) == read_tokens([1]) == []


@pytest.mark.parametrize(
    ("text", "logprobs", "status"),
    [
        ("no idea", chat(("no idea", {"no idea": 1.0})), "no_rating"),
        ("9", chat(("9", {"9": 1.0})), "out_of_scale"),
        ("4", None, "no_rating"),
        ("4", chat(("5", {"5": 1.0})), "no_rating"),
        ("(4)", chat(("(4", {"(4": 1.0}), (")", {")": 1.0})), "no_rating"),
    ],
)
def test_no_rating_is_made_up(text: str, logprobs: Any, status: str) -> None:
    found = judged(text, logprobs)
    assert found.rating is None
    assert found.status == status


@pytest.mark.parametrize(
    "alternatives",
    [
        {"4": 710.0},
        {"4": 1e308},
        {"4": 0.5},
        {"4": 10**18},
        dict.fromkeys("12345", 0.0),
        {"4": -0.1, "5": math.log(0.2)},
        {"4": math.nan},
        {"4": None},
        {"4": "-1"},
        {"4": True},
    ],
    ids=str,
)
def test_numbers_that_are_no_probabilities_give_no_rating(alternatives: dict[str, Any]) -> None:
    """Log-probabilities above 0, probabilities that add up to 5 or to 1.1, and what is no number."""
    top = [{"token": token, "logprob": value} for token, value in alternatives.items()]
    logprobs = {"content": [{"token": "4", "logprob": alternatives.get("4"), "top_logprobs": top}]}
    found = judged("4", logprobs)
    assert (found.status, found.rating, found.flags) == ("no_rating", None, ("unusable_logprobs",))


def test_numbers_that_are_no_probabilities_elsewhere_in_the_answer_do_not_matter() -> None:
    tokens = chat(("Rating:", {"Rating:": 1.0}), (" 4", {" 4": 0.75, " 2": 0.25}))
    tokens["content"][0]["logprob"] = tokens["content"][0]["top_logprobs"][0]["logprob"] = 5.0
    assert judged("Rating: 4", tokens).rating == pytest.approx(3.5)


def test_rounded_probabilities_may_add_up_to_a_little_more_than_one() -> None:
    found = judged("4", chat(("4", {"4": 0.7031, "5": 0.2031, "3": 0.1016})))
    assert found.rating == pytest.approx((4 * 0.7031 + 5 * 0.2031 + 3 * 0.1016) / 1.0078)


def test_thousands_of_empty_tokens_inside_a_label_are_followed() -> None:
    scale = Scale.of_labels(["No", "Strongly yes"])
    sure = {"logprob": 0.0, "top_logprobs": []}
    tokens = [{"token": text} | sure for text in ("Strongly", *[""] * 5000, " yes")]
    found = judged("Strongly yes", {"content": tokens}, Criterion("Overall", "OV", "", scale))
    assert (found.status, found.rating) == ("ok", 1.0)


def test_a_token_that_is_listed_without_its_blank_counts_once() -> None:
    """(4 x .6 + 5 x .3) / .9, and not with .6 for " 4" beside .6 for "4"."""
    tokens = chat(("Rating:", {"Rating:": 1.0}), (" 4", {" 4": 0.6, "5": 0.3}))
    tokens["content"][1]["top_logprobs"][0]["token"] = "4"
    found = judged("Rating: 4", tokens)
    assert found.rating == pytest.approx((4 * 0.6 + 5 * 0.3) / 0.9)
    assert found.flags == ("outside=0.100",)


def test_a_rating_whose_place_is_not_known_is_no_expected_one() -> None:
    tokens = chat(("4", {"4": 0.6, "5": 0.4}))
    response = Response("4", "stop", logprobs=tokens)
    found = expected_judgment(Judgment("ok", 4.0), response, FIVE.scale)
    assert (found.status, found.rating, found.flags) == ("no_rating", None, ("no_logprobs",))
