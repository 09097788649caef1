"""Stress tests of automatic measures: they have a direction and no points, and nothing is invented where neither is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from judge.analysis import correlation as compute
from judge.analysis.options.table_options import StressOptions
from judge.analysis.stress import Paired, Stress, stress, tables
from judge.analysis.stress.result import verdicts
from judge.analysis.stress.statistics import NO_POINTS
from judge.questions.charts.estimates import detections
from judge.ratings.ratings_table import RatingsTable
from judge.ratings.ratings_table.imported import _directions
from tests.analysis.stress.planted import CHANGES, planted

OPTIONS = StressOptions(control=False, as_published=True)
ATTACKED = {**CHANGES, "inject-plain": (1,), "empty": (1,)}
PERPLEXITY, LIKELIHOOD, LENGTH = "measure/perplexity", "measure/mean-log-p", "measure/length"
DIRECTIONS = {PERPLEXITY: -1, LIKELIHOOD: 1, LENGTH: 0}


def perplexity(name: str | None, strength: int, _: int, rng: np.random.Generator) -> float:
    """Far from any rating scale, and higher where a story was changed; injected stories are likelier."""
    return 30.0 + rng.normal() + {None: 0.0, "inject-plain": -9.0}.get(name, 5.0 * strength)


def likelihood(name: str | None, strength: int, _: int, rng: np.random.Generator) -> float:
    return -perplexity(name, strength, _, rng)


def measured(directions: Mapping[str, int] = DIRECTIONS) -> RatingsTable:
    """Three measures and a judge, of the same stories."""
    rates = {PERPLEXITY: perplexity, LIKELIHOOD: likelihood, LENGTH: perplexity, "m": lambda *_: 3.0}
    table = planted(rates, changes=ATTACKED, people=True)
    return replace(table, facts=tuple(replace(fact, directions=directions) for fact in table.facts))


@pytest.fixture(scope="module")
def found() -> Stress:
    return stress(measured(), OPTIONS)


def rows(found: Stress, judge: str) -> dict[tuple[str, int], Paired]:
    return {(row.facts.name, row.strength): row for row in found.rows if row.subject.judge == judge}


def test_detection_turns_by_direction(found: Stress) -> None:
    low, high = rows(found, PERPLEXITY), rows(found, LIKELIHOOD)
    for place, row in low.items():
        assert row.detection == high[place].detection
        assert row.wilcoxon == high[place].wilcoxon
        assert row.finding == high[place].finding
        assert (row.correlation, row.auc) == (high[place].correlation, high[place].auc)
    assert low["negation", 1].finding == "found"
    assert low["negation", 1].detection.wins == 40
    assert low["typos", 2].finding == "moved"
    assert low["inject-plain", 1].finding == "fell for"
    said = {one.finding: one.sentence for one in verdicts(found) if one.subject.judge == PERPLEXITY}
    assert said["fell for"] == "inject-plain (0.00)"
    assert said["moved"] == "typos (1.00)"
    assert "prefers" not in said


def test_what_is_counted_in_points_is_undefined_with_its_reason(found: Stress) -> None:
    for row in rows(found, PERPLEXITY).values():
        assert row.drop.reason == row.against_noise.reason == NO_POINTS
        assert (row.same, row.flips, row.top, row.top_before, row.lowest) == (None,) * 5
        assert row.detectable is None
    assert rows(found, PERPLEXITY)["empty", 1].finding is None
    assert {one.subject.judge for one in (*found.nulls, *found.doses, *found.quality)} == {"m"}
    titles = [table.title for table in tables(found)]
    for judge, points in ((PERPLEXITY, False), ("m", True)):
        assert any(t.startswith("By how many points?") and judge in t for t in titles) is points
    (moved,) = (
        t
        for t in tables(found)
        if t.title.startswith("Changes that should leave ratings as they are") and PERPLEXITY in t.title
    )
    assert [column.key for column in moved.columns] == ["what", "detection", "counts", "control", "finding"]
    assert "lower is better of measure/perplexity" in found.notes


def test_a_measure_without_a_direction_detects_nothing(found: Stress) -> None:
    for row in rows(found, LENGTH).values():
        assert row.detection.estimate.reason == "of this measure, neither more nor less is better"
        assert (row.detection.wins, row.detection.losses, row.p, row.wilcoxon, row.finding) == (0, 0, None, None, None)
        assert row.correlation is not None
        assert row.correlation.reason == row.detection.estimate.reason
    assert not [one for one in verdicts(found) if one.subject.judge == LENGTH]
    unsaid = stress(measured({}), OPTIONS)
    reason = rows(unsaid, PERPLEXITY)["typos", 1].detection.estimate.reason
    assert reason is not None
    assert "measure again" in reason
    # Tests that are not made are no part of the family, and judges keep their numbers.
    assert unsaid.tests == found.tests - 2 * len([r for r in rows(found, LENGTH).values() if r.facts.name != "empty"])
    assert rows(unsaid, "m")["typos", 1].detection == rows(found, "m")["typos", 1].detection


def test_the_figure_says_what_higher_means_of_measures(found: Stress) -> None:
    assert "(of measures: has the better value)" in detections(found, "toy").caption
    alone = stress(planted({"m": lambda *_: 3.0}), OPTIONS)
    assert "of measures" not in detections(alone, "toy").caption


def test_correlations_say_of_which_measures_lower_is_better() -> None:
    note = f"lower is better of {PERPLEXITY}: where they follow people, their correlations are negative"
    (said,) = (one for one in compute._lower_is_better(measured()))
    assert said == note
    assert not list(compute._lower_is_better(measured({})))
    assert not list(compute._lower_is_better(measured({"measure/other": -1})))


def test_directions_that_cannot_be_meant_are_none() -> None:
    assert _directions({"a": 1, "b": "up", "c": True, "d": 7, "e": -1, "f": 0}) == {"a": 1, "e": -1, "f": 0}
    assert _directions(["a"]) == {}
    assert _directions(None) == {}
