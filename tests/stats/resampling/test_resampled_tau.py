"""tau-b in resamples equals scipy's of the repeated pairs, whatever is drawn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau

from judge.stats.correlation import kendall, weighted_tau
from judge.stats.resampling import bootstrap
from judge.stats.resampling import resampled_correlations as resampled_tau

DRAWS = ("boot-inputs", "boot-systems", "boot-both", "boot-stories")


def _design(seed: int, systems: int = 6, prompts: int = 9, gone: float = 0.1) -> tuple[np.ndarray, ...]:
    """System and story-prompt of each story of an unbalanced design, and a quality that both have a part in."""
    rng = np.random.default_rng(seed)
    system, prompt = np.divmod(np.arange(systems * prompts), prompts)
    stays = rng.random(system.size) >= gone
    system, prompt = system[stays], prompt[stays]
    quality = rng.normal(size=systems)[system] + rng.normal(size=prompts)[prompt] + rng.normal(size=system.size)
    return system, prompt, quality


def _drawn(name: str, system: np.ndarray, prompt: np.ndarray, b: int, seed: int = 5) -> bootstrap.Resamples:
    rng = np.random.default_rng(seed)
    if name == "boot-both":
        return bootstrap.draw_both(system, prompt, b, rng)
    unit = {"boot-inputs": prompt, "boot-systems": system, "boot-stories": np.arange(system.size)}[name]
    return bootstrap.draw(unit, b, rng, name)


def _judges(quality: np.ndarray, levels: int | None, seed: int = 1) -> np.ndarray:
    """Three judges, with few levels or none tied; the second has no rating of a third of the stories."""
    rng = np.random.default_rng(seed)
    noisy = quality + rng.normal(size=(3, quality.size))
    made = noisy if levels is None else np.clip(np.round(noisy * levels / 6) / 2, -levels, levels)
    made[1, rng.random(quality.size) < 0.3] = np.nan
    return made


def _scipy(x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> float:
    keep = ~(np.isnan(x) | np.isnan(y))
    return kendalltau(np.repeat(x[keep], weight[keep]), np.repeat(y[keep], weight[keep])).statistic


@pytest.mark.parametrize("levels", [9, None], ids=["tied", "untied"])
@pytest.mark.parametrize("name", DRAWS)
def test_tau_in_resamples_equals_scipy_on_the_repeated_pairs(name: str, levels: int | None) -> None:
    system, prompt, quality = _design(3, systems=8, prompts=11)
    x = _judges(quality, levels)
    y = np.round(quality * 2) / 3 if levels else quality + np.random.default_rng(2).normal(size=quality.size)
    y[4] = np.nan
    drawn = _drawn(name, system, prompt, 12)
    ours = resampled_tau.tau_b(drawn, np.stack([kendall.codes(row) for row in x]), kendall.codes(y))
    weights = drawn.weights()
    theirs = [[_scipy(row, y, weight) for weight in weights] for row in x]
    np.testing.assert_allclose(ours, theirs, atol=1e-12)
    alone = resampled_tau.tau_b(drawn, kendall.codes(x[1]), kendall.codes(y))
    np.testing.assert_allclose(alone, ours[1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", DRAWS)
def test_a_judge_without_ratings_or_with_equal_ratings_is_nan_everywhere(name: str) -> None:
    system, prompt, quality = _design(1)
    x = np.stack([np.full(quality.size, -1), np.zeros(quality.size, dtype=np.int64), kendall.codes(quality)])
    found = resampled_tau.tau_b(_drawn(name, system, prompt, 7), x, kendall.codes(np.round(quality)))
    assert np.isnan(found[:2]).all()
    assert not np.isnan(found[2]).any()


@pytest.mark.parametrize("levels", [5, None], ids=["tied", "untied"])
def test_counts_beyond_single_precision_stay_exact(levels: int | None) -> None:
    # 6,000 stories have 18 million pairs: more than 2**24, above which single precision skips integers.
    rng = np.random.default_rng(0)
    n, units = 6000, 12
    x = rng.integers(0, 5, n) if levels else rng.permutation(n)
    y = np.where(rng.random(n) < 0.9, x, rng.permutation(x))
    y[:3] = -1
    unit = rng.integers(0, units, n)
    drawn = bootstrap.draw(unit, 3, rng, "boot-inputs")
    theirs = [_scipy(x.astype(float), np.where(y < 0, np.nan, y), weight) for weight in drawn.weights()]
    np.testing.assert_allclose(weighted_tau.by_units(x[None, :], y, unit)(drawn.counts)[0], theirs, atol=1e-12)
    if levels:
        by_tables = weighted_tau.by_tables(x[None, :], y)(drawn.weights())[0]
        np.testing.assert_allclose(
            by_tables, weighted_tau.by_units(x[None, :], y, unit)(drawn.counts)[0], rtol=0, atol=1e-12
        )
    np.testing.assert_allclose(resampled_tau.tau_b(drawn, x, y), theirs, atol=1e-12)


def test_steps_along_many_levels_equal_another_program() -> None:
    # A level of 400 stories is longer than a step; 9,000 untied stories beside 7 levels are many steps of one.
    rng = np.random.default_rng(5)
    quality = rng.normal(size=9000)
    x = kendall.codes(quality + rng.normal(size=9000))
    x[100:500], x[:4] = 3000, -1
    y = kendall.codes(np.round(quality + rng.normal(size=9000)))
    y[2:9] = -1
    weights = rng.multinomial(9000, np.full(9000, 1 / 9000), 3)
    theirs = [_scipy(np.where(x < 0, np.nan, x), np.where(y < 0, np.nan, y), weight) for weight in weights]
    np.testing.assert_allclose(weighted_tau.in_steps(x, y)(weights), theirs, atol=1e-12)
    np.testing.assert_allclose(weighted_tau.in_steps(y, x)(weights), theirs, atol=1e-12)
    np.testing.assert_allclose(weighted_tau.by_stories(x[None, :], y)(weights)[0], theirs, atol=1e-12)
    both = rng.permutation(x)  # many levels on both sides: sorted
    untied = [_scipy(np.where(x < 0, np.nan, x), np.where(both < 0, np.nan, both), weight) for weight in weights]
    np.testing.assert_allclose(weighted_tau.by_stories(x[None, :], both)(weights)[0], untied, atol=1e-12)


def test_the_jackknife_leaves_each_unit_of_each_factor_out_once() -> None:
    system, prompt, quality = _design(2)
    x, y = kendall.codes(_judges(quality, 9)[0]), kendall.codes(np.round(quality * 2))
    by_system, by_prompt = _drawn("boot-both", system, prompt, 4).jackknife()
    for made, unit in ((by_system, system), (by_prompt, prompt)):
        expected = [kendall.tau_b(x[unit != u], y[unit != u]) for u in range(int(unit.max()) + 1)]
        np.testing.assert_allclose(resampled_tau.tau_b(made, x, y), expected, atol=1e-14)
