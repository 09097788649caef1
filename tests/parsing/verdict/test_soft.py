"""Verdicts by log-probabilities: shares of the labels where the answer states one, and nothing anywhere else."""

from __future__ import annotations

import math
from typing import Any

import pytest

from judge.answers.parsing.verdict import Shares, parse_verdict, soft_verdict
from judge.base.records import Response


def answered(*tokens: tuple[str, dict[str, float]]) -> Response:
    content = [
        {
            "token": text,
            "logprob": math.log(top[text]),
            "top_logprobs": [{"token": t, "logprob": math.log(p)} for t, p in top.items()],
        }
        for text, top in tokens
    ]
    return Response("".join(text for text, _ in tokens), "stop", logprobs={"content": content})


def plain(text: str) -> tuple[str, dict[str, float]]:
    return text, {text: 1.0}


def shares(response: Response, choices: tuple[str, ...] = ("A", "B", "C"), **how: Any) -> Shares | None:
    return soft_verdict(parse_verdict(response, choices, **how), response, choices, **how)


def test_the_first_token_is_shared_out() -> None:
    found = shares(answered(("B", {"B": 0.6, "A": 0.2, "C": 0.1, "The": 0.1})))
    assert found is not None
    assert (found.first, found.second, found.tie) == pytest.approx((0.2 / 0.9, 0.6 / 0.9, 0.1 / 0.9))
    assert found.outside == pytest.approx(0.1)


def test_forms_with_a_space_or_in_small_letters_count_as_the_label() -> None:
    found = shares(answered(plain("Verdict:"), (" A", {" A": 0.5, " a": 0.1, "B": 0.2, " B": 0.2})))
    assert found is not None
    assert (found.first, found.second, found.tie) == pytest.approx((0.6, 0.4, 0))


def test_a_label_inside_brackets_json_and_longer_labels() -> None:
    top = {"A": 0.25, "B": 0.75}
    for response in (
        answered(plain("[["), ("B", top), plain("]]")),
        answered(plain('{"winner": "'), ("B", top), plain('"}')),
        answered(plain("Verdict: Story "), ("B", top), plain(".")),
    ):
        found = shares(response)
        assert found is not None
        assert (found.first, found.second) == pytest.approx((0.25, 0.75))
    words = answered(("Al", {"Al": 0.7, "Beta": 0.3}), plain("pha"))
    found = shares(words, ("Alpha", "Beta"))
    assert found is not None
    assert (found.first, found.second, found.tie) == pytest.approx((0.7, 0.3, 0))


def test_a_choice_of_the_server_is_read_too() -> None:
    found = shares(answered(("B", {"B": 0.9, "A": 0.1})), structured="choice")
    assert found is not None
    assert found.second == pytest.approx(0.9)


@pytest.mark.parametrize(
    "response",
    [
        Response("B"),
        answered(plain("Story A is worse than Story "), ("B", {"B": 0.9, "A": 0.1}), plain(".")),
        answered(plain("The second story is better.")),
        answered(plain("Both are good.")),
        Response("Verdict: B", logprobs={"content": [{"token": "x", "logprob": 0.0, "top_logprobs": []}]}),
        answered(plain("Verdict: (B)")),
    ],
    ids=["no log-probabilities", "turned", "position", "no verdict", "other tokens", "one token"],
)
def test_what_cannot_be_shared_out_is_none(response: Response) -> None:
    assert shares(response) is None


def test_numbers_that_are_no_probabilities_give_no_shares() -> None:
    top = [{"token": token, "logprob": 0.0} for token in ("A", "B", "C")]
    logprobs = {"content": [{"token": "A", "logprob": 0.0, "top_logprobs": top}]}
    assert shares(Response("A", "stop", logprobs=logprobs)) is None
