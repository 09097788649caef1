"""Diagnostics of labels: yes-bias in words, what is left out and why; refusals are lost and never a No."""

from __future__ import annotations

import numpy as np
import pytest

from judge.analysis.diagnose import DIAGNOSTICS, diagnose, tables
from judge.analysis.diagnose.kinds import COPY, MIDDLING, REVERSED, REVERSED_RATER, YES_BIAS
from judge.base.records import Scale
from tests.benchmarks.simulations.labels import yes_bias
from tests.benchmarks.simulations.worlds import World
from tests.labels.tables import labelled_table

PROMPT = np.repeat(np.arange(12), 4)
SYSTEM = np.tile(np.arange(4), 12)


def labelled(share: float, **more: object):
    rng = np.random.default_rng(3)
    people = {name: (rng.random((48, 3)) < 0.4).astype(float) for name in "AB"}
    judge = {name: (rng.random((48, 2)) < share).astype(float) for name in "AB"}
    return people, judge, labelled_table(people, {"m": judge}, story_prompt=PROMPT, system=SYSTEM, **more)


def test_yes_bias_is_said_with_both_shares() -> None:
    people, judge, table = labelled(0.85)
    found = {(one.criterion, one.diagnostic): one for one in diagnose(table).findings}
    one = found["A", YES_BIAS]
    shares = 100 * judge["A"].mean(), 100 * people["A"].mean()
    assert one.verdict(0.05) == "says Yes more often than people: {:.0f} % against {:.0f} %".format(*shares)
    assert one.test.estimate.value == pytest.approx(judge["A"].mean() - people["A"].mean())
    assert one.kind.unit == "share of Yes"
    every = found["all criteria", YES_BIAS]
    means = [np.mean([side[name].mean() for name in "AB"]) for side in (judge, people)]
    assert every.test.estimate.value == pytest.approx(means[0] - means[1])
    assert "says Yes more often than people" in every.verdict(0.05)


def test_no_is_the_positive_label_where_it_is_named() -> None:
    _, _, table = labelled(0.85, scales={name: Scale.of_labels(["No", "Yes"], positive="No") for name in "AB"})
    found = next(one for one in diagnose(table).findings if one.diagnostic == YES_BIAS)
    assert found.verdict(0.05).startswith("says No less often than people: ")


def test_what_needs_points_is_left_out_with_a_sentence() -> None:
    _, _, table = labelled(0.5)
    result = diagnose(table)
    rows = result.frame[result.frame["criterion"] == "A"].set_index("diagnostic")
    raters = {REVERSED, COPY, REVERSED_RATER}
    assert set(rows.index) == {YES_BIAS, "loss", "length", "compression", "self-preference", *raters}
    left = ["length", "compression", "self-preference"]
    assert set(rows.loc[left, "reason"]) == {"left out: two labels are not points of a scale"}
    assert "halo" not in set(result.frame["diagnostic"])
    (printed,) = tables(result)
    assert any("left out: two labels" in str(note) for note in printed.notes)
    assert not any("stuck" in str(note) for note in printed.notes)


def test_ordered_labels_are_tested_on_codes_and_unordered_ones_are_not() -> None:
    rng = np.random.default_rng(5)
    people, judge = rng.integers(0, 4, (48, 3)).astype(float), rng.integers(0, 4, (48, 2)).astype(float)
    words = ["bad", "poor", "fair", "good"]
    stuck = np.where(rng.random((48, 2)) < 0.7, 2.0, judge)
    for ordered in (True, False):
        scale = Scale.of_labels(words, ordered=ordered)
        table = labelled_table({"A": people}, {"m": {"A": stuck}}, scales={"A": scale}, story_prompt=PROMPT)
        result = diagnose(table)
        rows = result.frame.set_index("diagnostic")
        assert rows.loc["stuck", "verdict"] == "gives one rating far more often than people (fair)"
        noted = any("take their codes" in str(note) for note in tables(result)[0].notes)
        assert noted == ordered
        assert (rows.loc["leniency", "p"] is not None and not np.isnan(rows.loc["leniency", "p"])) == ordered
        # What has no order has no middle and no direction.
        expected = set(DIAGNOSTICS) if ordered else set(DIAGNOSTICS) - {"halo", MIDDLING, REVERSED, REVERSED_RATER}
        assert set(rows.index) == expected


def test_honest_judges_are_not_found_biased_and_planted_ones_are() -> None:
    world = World(systems=4, own_scales=0.0, story_prompts=12, criteria=2)
    honest = [yes_bias(seed, world=world, bias=0.0) for seed in range(1, 31)]
    planted = [yes_bias(seed, world=world, bias=0.8) for seed in range(1, 6)]
    # 5 % nominal; three standard errors of 30 studies above it.
    assert np.mean([one["all criteria"] for one in honest]) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 30)
    assert np.mean([one["all criteria"] for one in planted]) == 1
