"""What one rating more makes of tau: the formulas, and what they promise in simulated ratings of whole points."""

from __future__ import annotations

import numpy as np
import pytest

from judge.stats.correlation import kendall
from judge.stats.correlation.human_ceiling import next_gain, number_for, spearman_brown
from tests.stats.estimation.clustered_studies import simulate


def test_formulas_by_hand() -> None:
    assert spearman_brown(0.5, 2) == pytest.approx(2 / 3)
    assert number_for(0.5, 0.8) == 4
    assert number_for(-0.1, 0.8) is None


def test_the_curve_goes_through_the_last_step() -> None:
    """tau of normal ratings with reliability .4 each, made by the same formulas."""
    taus = [2 / np.pi * np.arcsin(0.6 * np.sqrt(spearman_brown(0.4, k))) for k in (1, 2, 3, 4)]
    assert next_gain(taus[0], taus[1], 2) == pytest.approx(taus[2] - taus[1])
    assert next_gain(taus[1], taus[2], 3) == pytest.approx(taus[3] - taus[2])


def test_where_the_last_step_brought_nothing_the_next_brings_nothing() -> None:
    assert next_gain(0.3, 0.3, 2) == pytest.approx(0)
    assert next_gain(0.32, 0.3, 2) == pytest.approx(0)
    assert np.isnan(next_gain(-0.1, 0.1, 2))


def test_a_step_larger_than_noise_explains_is_taken_for_pure_noise() -> None:
    r = np.sin(np.pi * 0.2 / 2) * np.sqrt(3 / 2)
    assert next_gain(0.05, 0.2, 2) == pytest.approx(2 / np.pi * np.arcsin(r) - 0.2)


@pytest.mark.parametrize("side", ["judge", "people"])
def test_the_gain_promised_is_the_gain_that_comes(side: str) -> None:
    """20,000 story-prompts, so that gains are nearly exact; noise from small to large, from 2 to 4 ratings."""
    off = []
    for noise in (0.7, 1.5, 2.5):
        rng = np.random.default_rng(4)
        study = simulate(rng, 20_000, systems=3, people=5, repeats=5, noise=(noise,), person_noise=noise)
        judge, people = study.judges[0], study.people
        taus = []
        for count in range(1, 6):
            sides = (judge[:, :count], people[:, :3]) if side == "judge" else (judge[:, :3], people[:, :count])
            taus.append(kendall.tau_b(*(kendall.codes(each.mean(axis=1)) for each in sides)))
        off += [float(next_gain(taus[k - 2], taus[k - 1], k)) / (taus[k] - taus[k - 1]) - 1 for k in (2, 3, 4)]
    assert abs(np.mean(off)) <= 0.1
    assert np.max(np.abs(off)) <= 0.2
