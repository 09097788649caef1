"""Verdicts of the page's first box: each follows from intervals or bounds by its rule."""

from __future__ import annotations

from dataclasses import replace

import pytest

from judge.analysis.agreement.alternative_annotator import AltTestRow
from judge.analysis.correlation.margins import CEILING, CONTROL, Margin
from judge.analysis.inputs.bars import JUDGE
from judge.analysis.inputs.candidates import Subject
from judge.stats.estimate import Estimate
from judge.summary.rules import of_agreement, of_consistency, of_loss, of_replacement, of_systems, of_variants


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


def row_of(passed: bool | None, criterion: str = "Coherence") -> AltTestRow:
    none = Estimate.undefined("refused")
    rate = none if passed is None else Estimate(1.0 if passed else 0.0, n=3)
    return AltTestRow(
        Subject(JUDGE, "d", "run", "j", "ep1", criterion, criterion),
        kind=JUDGE,
        winning_rate=rate,
        advantage=rate,
        passed=passed,
        p=None,
        clustered_rate=rate,
        clustered_passed=passed,
        clustered_p=None,
        clusters=40,
        epsilon=0.1,
        measure="rmse",
        labels=False,
        compared=3,
        too_few=0,
        least_stories=40,
        most_stories=40,
        people_icc=none,
        people_equal=none,
        people=(),
        names=("a", "b", "c"),
    )


@pytest.mark.parametrize(
    ("passed", "nulls", "below", "text"),
    [
        ((True, True), (), False, "yes"),
        ((True, False), (), False, "on 1 of 2 criteria"),
        ((True, None), (), False, "yes"),
        ((True, True), ("A",), False, "on 1 of 2 criteria"),
        ((True, True), ("A", "B"), False, "shows nothing"),
        ((False, False), (), True, "no"),
        ((False, False), (), False, "not shown"),
        ((None, None), (), True, "cannot be tested"),
    ],
)
def test_replacing_an_annotator_needs_what_a_judge_that_knows_nothing_does_not_get(
    passed: tuple[bool | None, ...], nulls: tuple[str, ...], below: bool, text: str
) -> None:
    rows = [row_of(one, name) for one, name in zip(passed, "AB", strict=True)]
    assert of_replacement(rows, nulls, below).text == text


def test_a_pass_that_ends_with_story_prompts_is_none() -> None:
    assert (
        of_replacement([replace(row_of(passed=True), clustered_passed=False)], (), below_people=False).text
        == "not shown"
    )


@pytest.mark.parametrize(
    ("found", "text"),
    [
        ((estimate(-0.2), estimate(-0.1)), "leads"),
        ((estimate(-0.2), estimate(-0.01)), "tied with 1 of 2 others"),
        ((estimate(-0.2, None),), "cannot be said"),
        ((Estimate.undefined("no people"),), "cannot be said"),
    ],
)
def test_a_prompt_leads_where_every_interval_leaves_zero_out(found: tuple[Estimate, ...], text: str) -> None:
    assert of_variants(found).text == text


@pytest.mark.parametrize(
    ("value", "systems", "text"),
    [
        (estimate(0.8), 11, "better than chance"),
        (estimate(0.04), 11, "not shown"),
        (estimate(-0.8), 11, "against people"),
        (estimate(0.8), 9, "too few systems"),
        (estimate(0.8, None), 11, "no interval"),
        (Estimate.undefined("equal"), 11, "undefined"),
    ],
)
def test_systems_are_named_by_the_interval_and_their_number(value: Estimate, systems: int, text: str) -> None:
    assert of_systems(value, systems).text == text
