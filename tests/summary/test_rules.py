"""Verdicts of the page's first box: each follows from intervals or bounds by its rule."""

from __future__ import annotations

from dataclasses import replace

import pytest

from judge.analysis.agreement.alternative_annotator import AltTestRow, Lead
from judge.analysis.agreement.replacement_verdict import verdict_of
from judge.analysis.correlation.margins import CEILING, CONTROL, Margin
from judge.analysis.inputs.bars import JUDGE
from judge.analysis.inputs.candidates import Subject
from judge.base.estimate import Estimate
from judge.questions.summary.people import of_agreement
from judge.questions.summary.rules import of_consistency, of_faults, of_loss, of_systems, of_variants


def estimate(value: float, half: float | None = 0.05) -> Estimate:
    if half is None:
        return Estimate(value, n=100)
    return Estimate(value, n=100, low=value - half, high=value + half)


def margin(
    value: Estimate, control: Estimate | None = None, people: Estimate | None = None, average: Estimate | None = None
) -> Margin:
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
        average=average or people or none,
    )


@pytest.mark.parametrize(
    ("value", "control", "people", "average", "text"),
    [
        (estimate(0.02), None, None, None, "none shown"),
        (estimate(-0.3), None, None, None, "none shown"),
        (estimate(-0.3), None, estimate(-0.6), None, "none shown, below people"),
        (estimate(0.3), None, None, None, "some agreement"),
        (estimate(0.3), estimate(0.1), estimate(-0.2), None, "above the control, below people"),
        (estimate(0.3), estimate(-0.1), estimate(-0.2), None, "below the control, below people"),
        (estimate(0.3), estimate(0.01), estimate(0.02), None, "not told apart from the control, not below people"),
        (estimate(0.3), estimate(0.1), estimate(0.2), None, "above the control, above people"),
        (estimate(0.3), estimate(0.1), estimate(0.0, 0.2), None, "above the control, people: cannot tell"),
        (estimate(0.3), estimate(0.1), estimate(0.0, 0.2), estimate(0.0, 0.09), "above the control, not below people"),
        (
            estimate(0.3),
            estimate(0.1),
            estimate(0.0, 0.2),
            estimate(0.0, 0.11),
            "above the control, people: cannot tell",
        ),
        (estimate(0.3), estimate(0.1, None), None, None, "not told apart from the control"),
        (estimate(0.3), estimate(0.1), estimate(-0.4, None), None, "above the control"),
        (Estimate.undefined("all ratings are equal"), None, None, None, "undefined"),
    ],
)
def test_agreement_is_named_by_the_intervals(
    value: Estimate, control: Estimate | None, people: Estimate | None, average: Estimate | None, text: str
) -> None:
    assert of_agreement(margin(value, control, people, average)).text == text


def test_a_wider_margin_lets_more_judges_count_as_not_below_people() -> None:
    wide = margin(estimate(0.3), None, estimate(-0.05, 0.1))
    assert of_agreement(wide).text == "people: cannot tell"
    assert of_agreement(wide, 0.2).text == "not below people"


@pytest.mark.parametrize(
    ("rated", "asked", "text"), [(10, 10, "nothing"), (9, 10, "10.0 %"), (99_999, 100_000, "less than 0.1 %")]
)
def test_loss_is_a_share_of_what_was_requested(rated: int, asked: int, text: str) -> None:
    assert of_loss(rated, asked).text == text


@pytest.mark.parametrize(
    ("findings", "made", "tests", "text"),
    [
        (0, 2, 7, "nothing found in 2 of 7 tests that could be made"),
        (0, 7, 7, "nothing found in 7 of 7 tests that could be made"),
        (0, 1, 7, "cannot be told"),
        (0, 0, 7, "cannot be told"),
        (0, 0, 0, "cannot be told"),
        (1, 1, 7, "faults in 1 of 1 tests"),
        (3, 6, 7, "faults in 3 of 6 tests"),
    ],
)
def test_finding_nothing_says_how_much_could_be_tested(findings: int, made: int, tests: int, text: str) -> None:
    assert of_faults(findings, made, tests).text == text


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        ([estimate(0.96, 0.02)], "excellent"),
        ([estimate(0.8, 0.04)], "good"),
        ([estimate(0.6)], "moderate"),
        ([estimate(0.44)], "poor"),
        ([estimate(0.52)], "poor to moderate"),
        ([estimate(0.75, 0.3)], "poor to excellent"),
        # The ends of the interval of the median cell, not of one that is far off; without an interval the value.
        ([estimate(0.1), estimate(0.6), estimate(0.62)], "moderate"),
        ([estimate(0.5, None)], "poor"),
        ([estimate(0.6), estimate(0.8, None), estimate(0.9, None)], "good"),
    ],
)
def test_consistency_is_named_by_published_bounds_and_both_ends_of_its_interval(
    cells: list[Estimate], text: str
) -> None:
    assert of_consistency(cells).text == text


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


def informed_row(
    lead: float, within: float | None = None, *, passed: bool | None = True, beside: float = 0.0, criterion: str = "A"
) -> AltTestRow:
    """A test's row with leads over uninformed judges of these sizes, each +-.05, and p values of 2 %."""
    row = replace(row_of(passed, criterion), p=0.02, clustered_p=0.02)
    if passed is None:
        return row
    leads = [
        Lead(estimate(size), p=0.02 if size > 0.05 else 0.4) for size in (lead, lead if within is None else within)
    ]
    return replace(row, lead=leads[0], within=leads[1], beside=estimate(beside))


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        # All that a yes needs, and each part that may lack.
        ([informed_row(0.1)], "yes"),
        ([informed_row(0.1, passed=False)], "cannot tell"),
        ([informed_row(0.01)], "cannot tell"),
        ([informed_row(0.1, within=0.01)], "cannot tell"),
        ([informed_row(0.1, beside=-0.1)], "cannot tell"),
        ([informed_row(0.1, passed=None)], "cannot be tested"),
        # What cannot be tested is left out; p of 2 % does not stand Holm's adjustment over three criteria.
        ([informed_row(0.1), informed_row(0.1, passed=None)], "yes"),
        ([informed_row(0.1), informed_row(0.01, criterion="B")], "on 1 of 2 criteria"),
        ([informed_row(0.1), informed_row(0.01, criterion="B"), informed_row(0.01, criterion="C")], "cannot tell"),
    ],
)
def test_replacing_an_annotator_needs_what_no_uninformed_judge_gets(rows: list[AltTestRow], text: str) -> None:
    assert verdict_of(rows).text == text


def test_a_judge_below_one_more_person_over_criteria_is_refused() -> None:
    assert verdict_of([informed_row(0.1)], estimate(-0.1)).text == "no"
    assert verdict_of([informed_row(0.1)], estimate(-0.04)).text == "yes"


def test_a_judge_without_leads_is_not_told_from_an_uninformed_one() -> None:
    assert verdict_of([row_of(passed=True)]).text == "cannot tell"


def test_a_pass_that_ends_with_story_prompts_is_none() -> None:
    assert verdict_of([replace(informed_row(0.1), clustered_passed=False)]).text == "cannot tell"


@pytest.mark.parametrize(
    ("found", "new_systems", "text"),
    [
        ((estimate(-0.2), estimate(-0.1)), (estimate(-0.2, 0.1), estimate(-0.1, 0.09)), "leads"),
        ((estimate(-0.2), estimate(-0.1)), (estimate(-0.2, 0.1), estimate(-0.1, 0.2)), "leads with these systems"),
        # Too few systems for an interval over new ones.
        ((estimate(-0.2),), (estimate(-0.2, None),), "leads with these systems"),
        ((estimate(-0.2),), (None,), "leads with these systems"),
        ((estimate(-0.2), estimate(-0.01)), (estimate(-0.2), None), "tied with 1 of 2 others"),
        ((estimate(-0.2, None),), (None,), "cannot be said"),
        ((Estimate.undefined("no people"),), (None,), "cannot be said"),
    ],
)
def test_a_prompt_leads_where_every_interval_leaves_zero_out(
    found: tuple[Estimate, ...], new_systems: tuple[Estimate | None, ...], text: str
) -> None:
    others = [("ep", difference, both) for difference, both in zip(found, new_systems, strict=True)]
    assert of_variants(others).text == text


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
