"""A difference is printed as that of the two numbers beside it."""

from __future__ import annotations

from judge.base.estimate import Estimate
from judge.questions.charts.shared import worded_difference


def test_a_printed_difference_is_that_of_the_printed_numbers() -> None:
    over = Estimate(-0.0874, 60, -0.392, 0.216)
    assert worded_difference(over, Estimate(0.4674, 60), Estimate(0.5548, 60)) == "−8.8 [−39.2, 21.6]"
    assert worded_difference(Estimate(0.0004, 60), Estimate(0.5, 60), Estimate(0.4996, 60)) == "+0.0"


def test_a_difference_over_other_stories_stays() -> None:
    assert worded_difference(Estimate(0.05, 60), Estimate(0.9, 60), Estimate(0.2, 60)) == "+5.0"
