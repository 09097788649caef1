"""What is said of stories and ratings before a judge is paid for them."""

from __future__ import annotations

import pytest

from judge.base.records import Rating, Story
from judge.inputs.criteria import load_criteria
from judge.inputs.datasets.faults import faults

HANNA = load_criteria("hanna")


def story(at: int, *ratings: Rating, text: str | None = None) -> Story:
    return Story(f"s{at}", "", "m", text or f"the lamp number {at} went out", ratings=ratings)


def coherence(at: int, value: float, rater: str | None = None) -> Story:
    return story(at, Rating("Coherence", value, rater))


GOOD = [coherence(at, 1 + at % 5) for at in range(30)]


def test_nothing_is_said_of_what_is_right() -> None:
    assert faults(GOOD, HANNA.criteria) == []
    assert faults(GOOD) == []


@pytest.mark.parametrize(
    ("stories", "known", "sentence"),
    [
        (
            [*GOOD, coherence(30, 11)],
            True,
            "1 of 31 ratings of Coherence lies outside the scale 1-5 of the set hanna: 11 (story s30)",
        ),
        (
            [*GOOD, coherence(30, 11)],
            False,
            "1 of 31 ratings of Coherence lies apart from the others (1-5): 11 (story s30)",
        ),
        (
            [*GOOD, coherence(30, 3.5), coherence(31, 3.5)],
            True,
            "2 of 32 ratings of Coherence lie between the points of its scale: 3.5 (story s30)",
        ),
        (
            [story(at, Rating("Plot", 1 + at % 5), Rating("Style", 5 - at % 5)) for at in range(20)],
            False,
            "people's Plot and Style run against each other (r -1.00 over 20 stories): is the scale of one reversed?",
        ),
        ([coherence(at, 3, "ann") for at in range(10)], False, "ann gave one rating throughout: 3, 10 times"),
        (
            [story(0), story(1), story(2, text="the lamp number 0 went out")],
            False,
            "1 of 3 stories have the text of an earlier one: s2 = s0",
        ),
        ([*GOOD, story(30, text="word " * 130)], False, "story s30 has 130 words, 22 times the median of 6"),
    ],
)
def test_each_fault_is_a_sentence(stories: list[Story], known: bool, sentence: str) -> None:
    assert faults(stories, HANNA.criteria if known else (), set_name="hanna" if known else None) == [sentence]


def test_means_of_several_people_are_no_fault() -> None:
    assert faults([coherence(at, 1 + (at % 9) / 3) for at in range(30)], HANNA.criteria) == []
