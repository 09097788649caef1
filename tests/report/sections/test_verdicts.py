"""Verdicts of the page's first box: each follows from intervals or bounds by its rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.analysis.correlation.margins import CEILING, CONTROL, Margin
from judge.report import ReportInputs, ReportOptions
from judge.report.sections import headline
from judge.report.sections.verdicts import of_agreement, of_consistency, of_loss
from judge.stats.estimate import Estimate


def estimate(value: float, half: float | None = 0.05) -> Estimate:
    if half is None:
        return Estimate(value, n=100)
    return Estimate(value, n=100, low=value - half, high=value + half)


def margin(value: Estimate, control: Estimate | None = None, people: Estimate | None = None) -> Margin:
    none = Estimate.undefined("nothing to set it beside")
    over = {CONTROL: control or none, CEILING: people or none}
    bars = {CONTROL: none, CEILING: none}
    return Margin(
        "d",
        "run",
        "j",
        "ep1",
        control=False,
        criteria=("Coherence",),
        value=value,
        bars=bars,
        over=over,
        above={CONTROL: (0, 1), CEILING: (0, 1)},
    )


@pytest.mark.parametrize(
    ("value", "control", "people", "text"),
    [
        (estimate(0.02), None, None, "near none"),
        (estimate(-0.3), None, None, "near none"),
        (estimate(0.3), None, None, "some agreement"),
        (estimate(0.3), estimate(0.1), estimate(-0.2), "above the control, below people"),
        (estimate(0.3), estimate(-0.1), estimate(-0.2), "below the control, below people"),
        (estimate(0.3), estimate(0.01), estimate(0.02), "not told apart from the control, within people's range"),
        (estimate(0.3), estimate(0.1), estimate(0.2), "above the control, within people's range"),
        (estimate(0.3), estimate(0.1, None), None, "not told apart from the control"),
        (estimate(0.3), estimate(0.1), estimate(-0.4, None), "above the control"),
        (Estimate.undefined("all ratings are equal"), None, None, "undefined"),
    ],
)
def test_agreement_is_named_by_the_intervals(
    value: Estimate, control: Estimate | None, people: Estimate | None, text: str
) -> None:
    assert of_agreement(margin(value, control, people)).text == text


@pytest.mark.parametrize(
    ("rated", "asked", "text"), [(10, 10, "nothing"), (9, 10, "10.0 %"), (99_999, 100_000, "less than 0.1 %")]
)
def test_loss_is_a_share_of_what_was_requested(rated: int, asked: int, text: str) -> None:
    assert of_loss(rated, asked).text == text


@pytest.mark.parametrize(
    ("median", "text"), [(0.95, "excellent"), (0.8, "good"), (0.6, "moderate"), (0.5, "poor"), (-0.1, "poor")]
)
def test_consistency_is_named_by_published_bounds(median: float, text: str) -> None:
    assert of_consistency(median).text == text


def test_the_demos_questions_are_answered(demo_run: Path) -> None:
    answers = headline.answers(ReportInputs.read([demo_run], ReportOptions(resamples=60)))
    verdicts = {answer.question: answer.verdict and answer.verdict.text for answer in answers}
    assert verdicts["Was anything lost?"] == "nothing"
    assert verdicts["Does the judge agree with itself?"] == "poor"
    assert verdicts["Does the judge agree with the labels?"] in ("near none", "some agreement")
    assert verdicts["What are these figures worth?"] is None
