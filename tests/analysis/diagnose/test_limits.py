"""Limits of biases: a bias is small where its interval shows it, and what has no interval cannot be told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from judge.analysis.diagnose import Finding, diagnose
from judge.analysis.diagnose.kinds import (
    COPY,
    DIAGNOSTICS,
    MIDDLING,
    PEOPLE,
    REVERSED,
    REVERSED_RATER,
    Bounded,
    bounded,
)
from judge.analysis.options.table_options import DiagnoseOptions
from judge.base.errors import OptionError
from judge.base.estimate import Estimate
from judge.ratings.rating_matrix import Cell
from judge.stats.resampling import jackknife
from tests.benchmarks.simulations.bounded_raters import BoundedRaters, Judges
from tests.benchmarks.simulations.unbiased import study
from tests.benchmarks.simulations.worlds import Floats, Study, World

OWN = DiagnoseOptions(own=("system 0",))


def finding(name: str, low: float | None, high: float | None, **changes: object) -> Finding:
    value = None if low is None or high is None else (low + high) / 2
    estimate = Estimate(value, 30, low, high, reason="undefined: too few" if value is None else None)
    test = jackknife.Test(estimate, None, 0.5, DIAGNOSTICS[name].tail, 30)
    return replace(Finding("d", Cell("r", "j", "ep1", "C"), "C", name, test), **changes)


def state(one: Finding) -> Bounded:
    (bound,) = bounded([one])
    return bound


@pytest.mark.parametrize(
    ("name", "low", "high", "expected"),
    [
        ("length", -0.19, 0.19, "within"),
        ("length", -0.19, 0.21, "cannot be told"),
        ("length", 0.21, 0.4, "beyond"),
        ("length", -0.4, -0.21, "beyond"),
        ("halo", -2.0, 0.29, "within"),  # one-sided: halo is a fault above 0 only
        ("halo", 0.31, 0.5, "beyond"),
        ("compression", -0.39, 2.0, "within"),
        ("compression", -0.6, -0.41, "beyond"),
        (REVERSED, 0.01, 0.5, "within"),
        (REVERSED, -0.1, 0.5, "cannot be told"),
        (REVERSED, -0.5, -0.1, "beyond"),
        ("length", None, None, "cannot be told"),
    ],
)
def test_the_whole_interval_has_to_lie_within_the_limit(
    name: str, low: float | None, high: float | None, expected: str
) -> None:
    bound = state(finding(name, low, high))
    assert bound.state == expected
    assert bound.words.startswith("cannot be told: ") == (expected == "cannot be told")


def test_the_unit_of_the_limit_is_the_spread_of_ratings() -> None:
    one = finding("length", -0.1, 0.15)
    assert state(replace(one, factor=1 / 0.5)).ends == (-0.2, 0.3)
    assert state(one).within
    assert not state(replace(one, factor=1 / 0.5)).within
    # A judge that never varies has no spread.
    assert state(replace(one, factor=float("nan"))).state == "cannot be told"


def test_of_two_tests_that_bound_a_fault_one_is_enough() -> None:
    wide, narrow = (finding("compression", low, 0.0).test for low in (-0.9, -0.1))
    assert state(finding("compression", -0.9, 0.0, bounding=(wide, narrow))).within
    assert not state(finding("compression", -0.9, 0.0, bounding=(wide, wide))).within


def test_what_cannot_matter_needs_no_test() -> None:
    few = finding("loss", None, None, at_most=0.05)
    assert state(few).within
    assert state(replace(few, at_most=0.2)).state == "cannot be told"
    assert bounded([replace(few, at_most=0.2, applies=False)]) == []


def drawn(making: Callable[[Judges], Floats], seed: int = 3, **size: int) -> list[Finding]:
    raters = BoundedRaters(World(**size), np.random.default_rng(seed))
    made = raters.study()
    return list(diagnose(made.with_judges(j=making(Judges(raters, made))).table(), OWN).findings)


def named(findings: list[Finding]) -> dict[str, str | None]:
    return {one.diagnostic: one.label for one in findings if one.adjusted is not None and one.adjusted < 0.05}


def test_planted_raters_are_named_and_others_are_not() -> None:
    assert named(drawn(Judges.repeats_rater))[COPY] == "w0"
    assert REVERSED in named(drawn(Judges.turned_round))
    assert not {COPY, REVERSED, REVERSED_RATER} & set(named(drawn(Judges.one_more)))


def turned(made: Study, rater: int) -> Study:
    people = made.people.copy()
    people[..., rater] = 6 - people[..., rater]
    return replace(made, people=people)


def test_a_person_with_the_scale_turned_round_is_named_once_for_all_judges() -> None:
    raters = BoundedRaters(World(), np.random.default_rng(5))
    made = turned(raters.study(), 1)
    judges = Judges(raters, made)
    result = diagnose(made.with_judges(j=judges.one_more(), k=judges.one_more()).table())
    (of_people,) = [one for one in result.findings if one.diagnostic == REVERSED_RATER]
    assert of_people.cell.judge == PEOPLE
    assert of_people.verdict(0.05) == "rates against the other raters (w1)"
    two = BoundedRaters(World(people=2), np.random.default_rng(5))
    made = turned(two.study(), 1)
    result = diagnose(made.with_judges(j=Judges(two, made).one_more()).table())
    (of_people,) = [one for one in result.findings if one.diagnostic == REVERSED_RATER]
    assert of_people.label == "w0 or w1"


def test_people_who_agree_leave_no_room_for_a_copy() -> None:
    raters = BoundedRaters(World(), np.random.default_rng(6))
    made = raters.study()
    made = replace(made, people=np.repeat(made.people[..., :1], 3, axis=2))
    findings = diagnose(made.with_judges(j=made.people[..., 0]).table()).findings
    (copied,) = [one for one in findings if one.diagnostic == COPY]
    assert copied.test.p is None
    assert "agree so well" in str(copied.test.estimate.reason)


def test_one_person_is_too_few_for_most_tests() -> None:
    states = {bound.finding.diagnostic: bound.state for bound in bounded(drawn(Judges.one_more, people=1))}
    assert states["length"] == states["compression"] == states["self-preference"] == "cannot be told"


def test_a_judge_that_lost_the_middling_stories_is_beyond_the_limit_even_without_rows_for_them() -> None:
    raters = BoundedRaters(World(), np.random.default_rng(7))
    made = raters.study()
    table = made.with_judges(j=Judges(raters, made).loses_middling()).table()
    frame = table.frame
    rated = frame[frame["rating"].notna()].copy()
    rated.loc[rated["source"] == "judge", "status"] = "imported"
    for one in (table, replace(table, frame=rated)):
        findings = {found.diagnostic: found for found in diagnose(one, OWN).findings}
        assert findings[MIDDLING].verdict(0.05) == "loses the middling stories"
        assert state(findings[MIDDLING]).state == "beyond"


def test_nothing_lost_is_no_test_that_could_not_be_made() -> None:
    findings = {one.diagnostic: one for one in drawn(Judges.one_more)}
    assert not findings["loss"].applies
    assert not findings[MIDDLING].applies
    assert not findings["halo"].applies  # one criterion has no other to mix in


def test_that_no_system_is_its_own_is_stated_not_guessed() -> None:
    raters = BoundedRaters(World(), np.random.default_rng(8))
    made = raters.study()
    table = made.with_judges(j=Judges(raters, made).one_more()).table()
    bounds = {bound.finding.diagnostic: bound for bound in bounded(diagnose(table).findings)}
    assert bounds["self-preference"].state == "cannot be told"
    assert bounds["self-preference"].asks_for_own
    stated = diagnose(table, DiagnoseOptions(no_own=True))
    assert "self-preference" not in {bound.finding.diagnostic for bound in bounded(stated.findings)}
    assert "own:none" in stated.signature
    with pytest.raises(OptionError, match="contradicts own=system 0"):
        DiagnoseOptions(own=("system 0",), no_own=True)


@pytest.mark.parametrize("fault", [Judges.favours_own, Judges.rewards_length, Judges.loses_middling])
@pytest.mark.parametrize("prompts", [12, 30])
def test_planted_faults_are_not_shown_to_be_small(fault: Callable[[Judges], Floats], prompts: int) -> None:
    # The tests that only asked whether something was found certified 57 and 32 % of the first two, 86 and 75 % with 12:
    # of 20 studies each of these is 3 or more with a chance above 97 %.
    world = World(story_prompts=prompts)
    outcomes = [study(seed, population="bounded raters", making=fault, world=world) for seed in range(1, 21)]
    assert sum(one["unbiased holds"] or 0.0 for one in outcomes) <= 2


def test_an_honest_judge_of_many_story_prompts_is_shown_to_be_unbiased() -> None:
    world = World(story_prompts=96)
    outcomes = [study(seed, population="thresholds", making=Judges.honest_model, world=world) for seed in range(1, 11)]
    assert sum(one["unbiased holds"] or 0.0 for one in outcomes) >= 7
