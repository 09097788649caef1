"""Numbers of story-prompts: textbook values, and the promise kept in studies unlike the model (`clustered_studies`)."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from judge.base.estimate import Estimate
from judge.stats.correlation import kendall
from judge.stats.estimation import sample_size
from judge.stats.estimation.sample_size import Number, Spread
from judge.stats.resampling import bootstrap
from judge.stats.resampling import bootstrap_intervals as intervals
from judge.stats.resampling import resampled_correlations as resampled_tau
from judge.stats.resampling.bootstrap import Factor, Resamples
from tests.stats.estimation.clustered_studies import Study, simulate

Floats = NDArray[np.float64]
KNOWN = float("inf")


def _codes(study: Study) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return np.stack([kendall.codes(one.mean(axis=1)) for one in study.judges]), kendall.codes(study.means)


def _left_out(study: Study) -> Floats:
    size = int(study.story_prompt.max()) + 1
    counts = (1 - np.eye(size, dtype=np.int32)).astype(np.int32)
    x, y = _codes(study)
    return np.atleast_2d(resampled_tau.tau_b(Resamples((Factor(counts, study.story_prompt),), "jackknife"), x, y))


def test_numbers_agree_with_tables_for_known_spread() -> None:
    """Chow, Shao & Wang 2008, paired t tests: s / d = 2 needs 34 pairs at power .80 (G*Power 3.1: 34, .8078)."""
    assert sample_size.for_difference(Spread(2.0, KNOWN, 50), 1.0).value == 34
    # t(.975, 17) = 2.1098: 2.1098 * 1 / sqrt(18) = .4973, and 17 give .5142.
    assert sample_size.for_half_width(Spread(1.0, KNOWN, 50), 0.5).value == 18


def test_half_width_now_is_the_intervals() -> None:
    assert sample_size.half_width(Spread(0.25, KNOWN, 96), 96) == pytest.approx(1.98525 * 0.25 / np.sqrt(96), rel=1e-5)


def test_an_aim_that_no_number_reaches_has_none() -> None:
    assert sample_size.for_equivalence(Spread(1.0, KNOWN, 50), 0.05, 0.05) == Number(None, None, None)


def test_a_spread_needs_five_story_prompts_that_differ() -> None:
    assert sample_size.spread(np.array([0.1, 0.2, 0.3, 0.4])) is None
    assert sample_size.spread(np.full(9, 0.2)) is None
    assert sample_size.spread(np.array([0.1, 0.2, np.nan, 0.3, 0.2, 0.1])) is None


def test_the_promised_half_width_comes_within_a_tenth() -> None:
    """Twelve pilots of 60 story-prompts; the interval of `correlate` in new studies of the planned size."""
    rng, wanted, reached = np.random.default_rng(11), 0.08, []
    for _ in range(12):
        found = sample_size.spread(_left_out(simulate(rng, 60))[0])
        assert found is not None
        number = sample_size.for_half_width(found, wanted).value
        assert number is not None
        for _ in range(4):
            study = simulate(rng, number)
            x, y = _codes(study)
            resamples = bootstrap.draw(study.story_prompt, 300, rng, "boot-inputs")
            drawn = resampled_tau.tau_b(resamples, x, y)[0]
            interval = intervals.expanded(Estimate(kendall.tau_b(x[0], y), n=y.size), drawn, number, "")
            assert interval.low is not None
            assert interval.high is not None
            reached.append((interval.high - interval.low) / 2)
    assert np.mean(reached) == pytest.approx(wanted, rel=0.1)


def test_the_promised_power_comes_within_a_tenth() -> None:
    """Two judges whose true taus differ; `compare`'s interval over story-prompts leaves 0 out as often as planned."""
    rng, noise = np.random.default_rng(5), (0.8, 1.6)
    x, y = _codes(simulate(rng, 20_000, noise=noise))
    difference = kendall.tau_b(x[0], y) - kendall.tau_b(x[1], y)
    planned = []
    for _ in range(15):
        left_out = _left_out(simulate(rng, 60, noise=noise))
        found = sample_size.spread(left_out[1] - left_out[0])
        assert found is not None
        planned.append(sample_size.for_difference(found, difference, power=0.8).value)
    number = round(float(np.mean([one for one in planned if one is not None])))
    hits = []
    for _ in range(400):
        study = simulate(rng, number, noise=noise)
        x, y = _codes(study)
        taus = resampled_tau.tau_b(bootstrap.draw(study.story_prompt, 300, rng, "boot-inputs"), x, y)
        low, high = np.percentile(taus[0] - taus[1], [2.5, 97.5])
        hits.append(low > 0 or high < 0)
    assert np.mean(hits) == pytest.approx(0.8, rel=0.1)


def test_the_range_holds_the_number_of_the_truth_about_four_times_in_five() -> None:
    rng = np.random.default_rng(3)
    truth = sample_size.spread(_left_out(simulate(rng, 1500))[0])
    assert truth is not None
    number = sample_size.for_half_width(truth, 0.08).value
    assert number is not None
    held = []
    for _ in range(150):
        found = sample_size.spread(_left_out(simulate(rng, 40))[0])
        assert found is not None
        told = sample_size.for_half_width(found, 0.08)
        assert told.low is not None
        assert told.high is not None
        held.append(told.low <= number <= told.high)
    assert 0.7 <= np.mean(held) <= 0.9
