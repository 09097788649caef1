"""Gains, their intervals and levels; the race; numbers worked out by hand or by SciPy."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from judge.base.estimate import Estimate
from judge.lab.improve.race import asked, race, rounds_for, steps
from judge.stats.estimation import prompt_gain
from judge.stats.estimation.prompt_gain import Gain, Part, gain


def part(seed: int = 1, story_prompts: int = 12, systems: int = 4, criteria: int = 2) -> Part:
    rng = np.random.default_rng(seed)
    n = story_prompts * systems
    quality = rng.normal(size=(criteria, n))
    people = np.round(3 + quality + rng.normal(0, 0.5, quality.shape))
    base = np.round(3 + 0.3 * quality + rng.normal(0, 1, (2, criteria, n)))
    other = np.round(3 + 0.8 * quality + rng.normal(0, 0.7, quality.shape))
    return Part(
        people, base, other, np.repeat(np.arange(story_prompts), systems), np.tile(np.arange(systems), story_prompts)
    )


def _by_scipy(made: Part, without: int | None = None) -> float:
    keep = np.ones(made.story_prompt.size, bool) if without is None else made.story_prompt != without
    gains = []
    for i, people in enumerate(made.people):
        first = [stats.kendalltau(asking[i][keep], people[keep]).statistic for asking in made.base]
        gains.append(stats.kendalltau(made.other[i][keep], people[keep]).statistic - np.mean(first))
    return float(np.mean(gains))


def test_a_gain_is_scipys_and_its_error_the_jackknife_of_it() -> None:
    made = part()
    found = gain([made])
    assert found.estimate.value == pytest.approx(_by_scipy(made), abs=1e-12)
    left = np.array([_by_scipy(made, group) for group in range(12)])
    se = math.sqrt(11 / 12 * ((left - left.mean()) ** 2).sum())
    assert found.se == pytest.approx(se, rel=1e-9)
    half = stats.t.ppf(0.975, 11) * se
    assert found.estimate.low == pytest.approx(found.estimate.value - half)
    assert found.clusters == 12
    assert found.above


def test_two_halves_are_averaged_and_never_pooled() -> None:
    first, second = part(1), part(2)
    lenient = Part(second.people, second.base, second.other + 3, second.story_prompt, second.system)
    found = gain([first, second], factor=prompt_gain.SWAPPED)
    assert gain([first, lenient], factor=prompt_gain.SWAPPED).estimate == found.estimate
    assert found.estimate.value == pytest.approx((_by_scipy(first) + _by_scipy(second)) / 2)
    assert found.se == pytest.approx(1.1 * gain([first, second]).se)
    assert found.clusters == 24


def test_stories_count_where_every_side_has_a_rating() -> None:
    made = part()
    other = made.other.copy()
    other[:, made.story_prompt == 3] = np.nan
    lost = Part(made.people, made.base, other, made.story_prompt, made.system)
    assert gain([lost]).estimate.value == pytest.approx(_by_scipy(made, 3))


def test_what_cannot_be_told_has_its_reason() -> None:
    made = part()
    constant = Part(made.people, made.base, np.full_like(made.other, 3), made.story_prompt, made.system)
    assert "no criterion" in str(gain([constant]).estimate.reason)
    few = part(story_prompts=4)
    assert "fewer than 5" in str(gain([few]).estimate.reason)
    same = Part(made.people, made.base[:1], made.base[0], made.story_prompt, made.system)
    assert "alike" in str(gain([same]).estimate.reason)
    assert not gain([same]).above


def test_the_levels_of_all_uses_sum_to_five_per_cent() -> None:
    one_sided = [(1 - prompt_gain.confidence_of_use(use)) / 2 for use in range(1, 200)]
    assert one_sided[:2] == pytest.approx([0.025, 0.05 / 6])
    assert sum(one_sided) == pytest.approx(0.05 * (1 - 1 / 200))


def test_the_smallest_gain_and_the_story_prompts_for_one() -> None:
    # 2.8 x .21 / sqrt(48) and (2.8 x .21 / .10)^2 = 34.6.
    assert prompt_gain.smallest_gain(0.21, 48) == pytest.approx(0.0849, abs=1e-4)
    assert prompt_gain.story_prompts_for(0.10, 0.21) == 35


def _gain(value: float, p: float, clusters: int = 30) -> Gain:
    """A gain whose two-sided p is this."""
    se = abs(value) / stats.t.isf(p / 2, clusters - 1)
    half = stats.t.ppf(0.975, clusters - 1) * se
    return Gain(Estimate(value, 300, low=value - half, high=value + half), se, clusters)


def test_criteria_are_adjusted_by_holm_once_the_mean_over_them_is_apart_from_0() -> None:
    by_name = {"a": _gain(0.2, 0.01), "b": _gain(0.1, 0.04), "c": _gain(-0.1, 0.03), "d": _gain(0.2, 0.02)}
    assert by_name["a"].p == pytest.approx(0.01)
    # By hand: 4 x .01, 3 x .02, then no less than the one before: 2 x .03 and .04.
    found = prompt_gain.adjusted(_gain(0.1, 0.001), by_name)
    assert list(found.values()) == pytest.approx([0.04, 0.06, 0.06, 0.06])
    assert prompt_gain.adjusted(_gain(0.1, 0.06), by_name) == {}
    assert prompt_gain.adjusted(_gain(0.1, 0.001), {"a": Gain(Estimate.undefined("none"))}) == {}


def test_the_race_with_more_repeats_beside_it_has_one_winner() -> None:
    def won(candidate: float, more: float) -> str | None:
        told = {"o": 0.2, "a": candidate, "p": 0.9, "more": more}
        return race("o", [["a"], ["p"], ["more"]], 1, lambda names, _: {name: told[name] for name in names}).winner

    assert won(0.3, 0.25) == "a"
    assert won(0.3, 0.35) == "more"
    assert won(0.3, 0.3) == "a"  # equal: what costs less, as each of its repeats is asked once
    assert won(math.nan, 0.1) == "more"


def test_repeats_for_the_same_tau_follow_spearman_and_brown() -> None:
    # r of one repeat .4, its reliability .5: two repeats r .4 sqrt((2/3)/.5) = .4619, eight .4 sqrt((8/9)/.5).
    tau = [2 / math.pi * math.asin(0.4 * math.sqrt(rel / 0.5)) for rel in (1 / 2, 2 / 3, 8 / 9)]
    assert prompt_gain.repeats_for(tau[0], tau[1], tau[2] - 1e-9, 1) == 8
    assert prompt_gain.repeats_for(tau[0], tau[1], 0.9, 1) is None
    assert prompt_gain.repeats_for(tau[0], tau[0] - 0.01, 0.5, 1) is None


# The race.


def test_each_round_halves_the_pools_on_equal_and_growing_sets() -> None:
    truth = {f"c{i}": float(i) for i in range(10)} | {"p0": 0.5, "p1": 0.7, "p2": 0.1, "original": 4.5}
    told: list[tuple[tuple[str, ...], int]] = []

    def scores(names: Sequence[str], step: int) -> dict[str, float]:
        told.append((tuple(names), step))
        return {name: truth[name] for name in names}

    found = race("original", [[f"c{i}" for i in range(10)], ["p0", "p1", "p2"]], 4, scores)
    assert [len(names) for names, _ in told] == [14, 1 + 5 + 2, 1 + 3 + 1, 1 + 2 + 1]
    assert found.winners == ("c9", "p1")
    assert found.promised("c9") == pytest.approx(4.5)
    assert all("original" in names for names, _ in told)


def test_a_candidate_without_a_score_never_wins() -> None:
    found = race("o", [["a", "b"]], 1, lambda names, _: {name: float("nan") if name == "a" else 0.0 for name in names})
    assert found.winners == ("b",)
    assert race("o", [["a"]], 1, lambda names, _: dict.fromkeys(names, float("nan"))).winners == (None,)


def test_halving_in_equal_steps_costs_less_than_half() -> None:
    assert steps(29, 4) == [7, 14, 22, 29]
    assert rounds_for(16, 60) == 4
    assert rounds_for(10, 16) == 2
    # 16, 8, 4 and 2 candidates and the original, on a quarter of the story-prompts each.
    assert asked([16], 60, 4) == 15 * (17 + 9 + 5 + 3)
    assert asked([16], 60, 4) / (60 * 17) < 0.51
