"""Resamples come from the seed given, and an interval is refused where too many of them are degenerate."""

from __future__ import annotations

import numpy as np
import pytest

from judge.base.estimate import Estimate
from judge.stats.resampling import bootstrap


def test_units_are_drawn_as_often_as_there_are_units_and_the_seed_decides() -> None:
    unit = np.repeat(np.arange(5), 3)
    first, again = (bootstrap.draw(unit, 8, np.random.default_rng(4), "boot-inputs") for _ in range(2))
    assert (first.counts.sum(axis=1) == 5).all()
    np.testing.assert_array_equal(first.counts, again.counts)
    sizes = first.values(lambda weights: weights.sum(axis=1).astype(float))
    assert (sizes == 15).all()


def test_percentile_interval_covers_a_mean_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(300):
        x = rng.normal(size=60)
        drawn = bootstrap.draw(np.arange(60), 200, rng, "boot-stories")
        values = drawn.values(lambda w, x=x: w @ x / 60)
        found = bootstrap.percentile(Estimate(float(x.mean()), 60), values, "boot-stories")
        hits += bool(found.low <= 0 <= found.high)
    assert (
        0.90 <= hits / 300 <= 0.98
    )  # 0.95 less the percentile bootstrap's known shortfall, two Monte Carlo errors each way


def test_too_many_degenerate_resamples_leave_no_interval() -> None:
    values = np.array([0.1] * 94 + [np.nan] * 6)
    found = bootstrap.percentile(Estimate(0.1, 10), values, "boot-stories")
    assert found.value == 0.1
    assert found.low is None
    assert found.reason == "no interval: undefined in 6 of 100 resamples"
    few = bootstrap.percentile(Estimate(0.1, 10), values[:96], "boot-stories")
    assert few.method == "boot-stories, 2 degenerate"


def test_chunks_do_not_change_the_values(monkeypatch) -> None:
    drawn = bootstrap.draw(np.arange(30), 10, np.random.default_rng(1), "boot-stories")
    x = np.arange(30.0)
    whole = drawn.values(lambda w: w @ x)
    monkeypatch.setattr(bootstrap, "_CHUNK", 61)
    np.testing.assert_allclose(drawn.values(lambda w: w @ x), whole, rtol=0, atol=1e-12)


def test_sums_of_units_give_what_sums_of_stories_give() -> None:
    rng = np.random.default_rng(2)
    unit, system, parts = np.arange(60) // 4, np.arange(60) % 6, rng.random((60, 2))
    ratio = bootstrap.OfSums(parts, lambda sums: sums[:, 0] / (9 + sums[:, 1]))
    for drawn in (
        bootstrap.draw(unit, 50, rng, "boot-inputs"),
        bootstrap.draw_both(system, unit, 50, rng),
    ):
        plain = np.array([w @ parts[:, 0] / (9 + w @ parts[:, 1]) for w in drawn.weights()])
        np.testing.assert_allclose(drawn.values(ratio), plain, rtol=0, atol=1e-12)


def test_both_draws_systems_and_story_prompts_and_weights_are_their_product() -> None:
    system, prompt = np.divmod(np.arange(60), 10)
    system, prompt = system[3:], prompt[3:]  # three stories are absent
    drawn = bootstrap.draw_both(system, prompt, 50, np.random.default_rng(2))
    first, second = drawn.factors
    assert (first.counts.sum(axis=1) == 6).all()
    assert (second.counts.sum(axis=1) == 10).all()
    weights = drawn.weights()
    for b in (0, 17):
        expected = [first.counts[b, s] * second.counts[b, p] for s, p in zip(system, prompt, strict=True)]
        assert weights[b].tolist() == expected
    few = drawn.of(np.array([0, 20]))
    np.testing.assert_array_equal(few.weights(), weights[:, [0, 20]])


def test_a_handful_of_systems_is_not_resampled() -> None:
    system, prompt = np.divmod(np.arange(40), 10)
    reason = "4 systems are too few to resample (at least 5); story-prompts alone can be"
    assert bootstrap.both_refused(system) == reason
    with pytest.raises(ValueError, match="too few to resample"):
        bootstrap.draw_both(system, prompt, 5, np.random.default_rng(0))
    assert bootstrap.both_refused(np.arange(5)) is None


def test_units_are_drawn_alike_often() -> None:
    # Counts of a unit over B resamples are binomial(B * units, 1 / units): chi-squared over the units, 1 % either way.
    counts = bootstrap.draw(np.arange(50), 4000, np.random.default_rng(9), "boot-stories").counts
    chi2 = float((((counts.sum(axis=0) - 4000) ** 2) / 4000).sum())
    assert 28.9 < chi2 < 74.9  # scipy.stats.chi2.ppf([.01, .99], 49)
    assert counts.var() == pytest.approx(1 - 1 / 50, abs=0.02)
