"""System-level and grouped tau-b in resamples, against loops over the drawn systems and story-prompts."""

from __future__ import annotations

import warnings
from typing import get_args

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr

from judge.stats.correlation import coefficients, kendall
from judge.stats.resampling import bootstrap
from judge.stats.resampling import resampled_correlations as resampled_correlation
from tests.stats.resampling.over_means import tau_b_means

DRAWS = ("boot-inputs", "boot-systems", "boot-both")


def _matrix(seed: int, systems: int = 7, prompts: int = 9) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two judges and people on systems x story-prompts; NaN = no such rating; judge 1 has fewer."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(systems, 1)) + rng.normal(size=(1, prompts)) + rng.normal(size=(systems, prompts))
    x = np.round(quality + rng.normal(size=(2, systems, prompts)))
    y = np.round(3 * (quality + rng.normal(size=(systems, prompts)))) / 3
    x[1][rng.random(y.shape) < 0.2] = np.nan
    y[rng.random(y.shape) < 0.1] = np.nan
    return x, y, rng.random(y.shape) >= 0.1  # the last: which stories exist at all


def _drawn(name: str, system: np.ndarray, prompt: np.ndarray, b: int) -> bootstrap.Resamples:
    rng = np.random.default_rng(11)
    if name == "boot-both":
        return bootstrap.draw_both(system, prompt, b, rng)
    return bootstrap.draw(prompt if name == "boot-inputs" else system, b, rng, name)


def _copies(drawn: bootstrap.Resamples, b: int, systems: int, prompts: int) -> tuple[np.ndarray, np.ndarray]:
    """The drawn systems and story-prompts of a resample, as lists with repetitions."""
    counts = {"boot-inputs": (None, 0), "boot-systems": (0, None), "boot-both": (0, 1)}[drawn.name]
    made = []
    for at, units in zip(counts, (systems, prompts), strict=True):
        made.append(np.arange(units) if at is None else np.repeat(np.arange(units), drawn.factors[at].counts[b]))
    return made[0], made[1]


def _tau(x: np.ndarray, y: np.ndarray, coefficient: str = "kendall") -> float:
    keep = ~(np.isnan(x) | np.isnan(y))
    if keep.sum() < 2 or np.ptp(x[keep]) < 1e-9 or np.ptp(y[keep]) < 1e-9:
        return np.nan
    return {"kendall": kendalltau, "spearman": spearmanr, "pearson": pearsonr}[coefficient](x[keep], y[keep]).statistic


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("coefficient", get_args(coefficients.Coefficient))
def test_system_level_equals_a_loop_over_the_drawn_matrix(name: str, coefficient: str) -> None:
    x, y, exists = _matrix(1)
    system, prompt = np.nonzero(exists)
    drawn = _drawn(name, system, prompt, 15)
    given = x[:, system, prompt], y[system, prompt]
    ours = resampled_correlation.values(drawn, *given, coefficient, grouping="means", group=system)
    if coefficient == "kendall":
        np.testing.assert_allclose(tau_b_means(drawn, *given, system), ours, rtol=0, atol=1e-12)
    y = np.where(exists, y, np.nan)
    for b in range(15):
        rows, columns = _copies(drawn, b, *y.shape)
        for judge in range(2):
            both = np.where(np.isnan(x[judge]) | np.isnan(y), np.nan, 1.0)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # a drawn system without any story
                means = [np.nanmean((side * both)[np.ix_(rows, columns)], axis=1).round(9) for side in (x[judge], y)]
            assert ours[judge, b] == pytest.approx(_tau(*means, coefficient), abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("level", ["by-item", "by-system"])
@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("coefficient", get_args(coefficients.Coefficient))
def test_grouped_equals_a_loop_over_the_drawn_matrix(name: str, level: str, coefficient: str) -> None:
    x, y, exists = _matrix(2)
    system, prompt = np.nonzero(exists)
    drawn = _drawn(name, system, prompt, 10)
    group = prompt if level == "by-item" else system
    given = x[:, system, prompt], y[system, prompt]
    ours = resampled_correlation.values(drawn, *given, coefficient, grouping="within", group=group)
    y = np.where(exists, y, np.nan)
    for judge in range(2):
        p, q = (x[judge], y) if level == "by-system" else (x[judge].T, y.T)
        enough = (~(np.isnan(p) | np.isnan(q))).sum(axis=1) >= 3
        for b in range(10):
            rows, columns = _copies(drawn, b, *y.shape)
            rows, columns = (rows, columns) if level == "by-system" else (columns, rows)
            taus = np.array([_tau(p[row, columns], q[row, columns], coefficient) for row in rows if enough[row]])
            assert ours[judge, b] == pytest.approx(np.nanmean(taus), abs=1e-12)


def test_stories_drawn_one_by_one_are_grouped_alike() -> None:
    x, y, exists = _matrix(3)
    system, prompt = np.nonzero(exists)
    drawn = bootstrap.draw(np.arange(system.size), 25, np.random.default_rng(0), "boot-stories")
    judge, people = x[1][system, prompt], y[system, prompt]
    means = tau_b_means(drawn, judge, people, system)
    within = resampled_correlation.tau_b_within(drawn, kendall.codes(judge), kendall.codes(people), prompt)
    for b, weight in enumerate(drawn.weights()):
        rows = np.repeat(np.arange(system.size), weight)
        again = judge[rows], people[rows]
        expected = coefficients.correlate_means(*again, system[rows]).value
        assert means[b] == pytest.approx(expected, abs=1e-12)
        taus = [_tau(again[0][prompt[rows] == g], again[1][prompt[rows] == g]) for g in range(y.shape[1])]
        complete = np.bincount(prompt, weights=~np.isnan(judge + people), minlength=y.shape[1]) >= 3
        assert within[b] == pytest.approx(np.nanmean(np.array(taus)[complete]), abs=1e-12)


def test_equal_means_of_thirds_stay_tied_in_every_resample() -> None:
    # 1/3 + 1/3 + 1/3 is not 1 in binary: unrounded, the systems' equal means would differ by 1e-16.
    system = np.repeat(np.arange(6), 3)
    y = np.tile([1 / 3, 1 / 3, 1 / 3, 1.0, 0.0, 0.0], 3)
    drawn = bootstrap.draw(np.tile(np.arange(3), 6), 50, np.random.default_rng(1), "boot-inputs")
    x = np.arange(18.0)
    ones = (drawn.counts == 1).all(axis=1)
    assert ones.any()
    assert np.isnan(tau_b_means(drawn, x, y, system)[ones]).all()


def test_the_jackknife_over_systems_and_story_prompts_at_system_level() -> None:
    x, y, exists = _matrix(5)
    system, prompt = np.nonzero(exists)
    judge, people = x[0][system, prompt], y[system, prompt]
    by_system, by_prompt = _drawn("boot-both", system, prompt, 2).jackknife()
    for made, unit in ((by_system, system), (by_prompt, prompt)):
        values = tau_b_means(made, judge, people, system)
        for u in range(int(unit.max()) + 1):
            rest = unit != u
            expected = coefficients.correlate_means(judge[rest], people[rest], system[rest]).value
            assert values[u] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("coefficient", get_args(coefficients.Coefficient))
def test_overall_is_one_entry_for_one_judge_or_many(coefficient: str) -> None:
    x, y, exists = _matrix(6)
    system, prompt = np.nonzero(exists)
    drawn = _drawn("boot-both", system, prompt, 15)
    given = x[:, system, prompt], y[system, prompt]
    both = resampled_correlation.values(drawn, *given, coefficient)
    alone = resampled_correlation.values(drawn, given[0][1], given[1], coefficient)
    np.testing.assert_allclose(both[1], alone, rtol=0, atol=1e-12)
    for b, weight in enumerate(drawn.weights()):
        rows = np.repeat(np.arange(system.size), weight)
        assert alone[b] == pytest.approx(_tau(given[0][1][rows], given[1][rows], coefficient), abs=1e-12)
    with pytest.raises(ValueError, match="grouping 'means' needs the group"):
        resampled_correlation.values(drawn, *given, coefficient, grouping="means")


def test_equal_values_have_no_correlation_whatever_their_rounding_noise() -> None:
    drawn = bootstrap.draw(np.arange(20), 30, np.random.default_rng(0), "boot-stories")
    for constant in (0.1, 1 / 3, 1e6 + 0.1):
        values = drawn.values(coefficients.resampled(np.full(20, constant), np.arange(20.0), "pearson"))
        assert np.isnan(values).all()


@pytest.mark.parametrize("grouping", get_args(resampled_correlation.Grouping))
@pytest.mark.parametrize("coefficient", get_args(coefficients.Coefficient))
@pytest.mark.parametrize("block", [60, 4_000_000], ids=["some judges", "all judges"])
def test_judges_with_people_of_their_own_are_as_one_after_the_other(
    grouping: str, coefficient: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resampled_correlation, "_BLOCK", 8 * block)
    x, y, exists = _matrix(4)
    system, prompt = np.nonzero(exists)
    drawn = _drawn("boot-inputs", system, prompt, 30)
    judges, people = x[[0, 1, 0], system[:, None], prompt[:, None]].T, y[system, prompt]
    theirs = np.stack([people, judges[1], judges[0] + people])
    ours = resampled_correlation.values(drawn, judges, theirs, coefficient, grouping=grouping, group=system)
    alone = [
        resampled_correlation.values(drawn, judge, own, coefficient, grouping=grouping, group=system)
        for judge, own in zip(judges, theirs, strict=True)
    ]
    np.testing.assert_array_equal(ours, alone)
    shared = resampled_correlation.values(drawn, judges, people, coefficient, grouping=grouping, group=system)
    np.testing.assert_allclose(shared[0], alone[0], rtol=0, atol=1e-12)
