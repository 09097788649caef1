"""The measured coverage is what the simulation gives; cautions are given where it is bad and only there."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scipy.stats import binom

from judge.stats.resampling import bootstrap_intervals as measured
from tests.benchmarks import coverage
from tests.benchmarks.simulations import intervals
from tests.benchmarks.simulations.worlds import World

SIMULATED = {"percentile": "percentile", "bca": "BCa"}


@pytest.mark.parametrize("draw", ["boot-stories", "boot-inputs"])
def test_a_short_simulation_agrees_with_the_measured_coverage(draw: str) -> None:
    # Binomial limits of 1 in 10,000 each way: fails for a coverage that is wrong by some 15 points or more.
    (scene,) = [scene for scene in coverage.SCENES if scene.draw == draw]
    tallies = coverage.simulate(replace(scene, sets=min(scene.sets, 4)), 100, 250, seed=5)
    for level in scene.levels:
        for kind, name in SIMULATED.items():
            tally = tallies[level, name]
            held = len(tally.widths) - tally.below - tally.above
            share = measured.MEASURED[draw, scene.systems, level][kind] / 100
            assert binom.ppf(1e-4, 100, share) <= held <= binom.ppf(1 - 1e-4, 100, share)


def test_every_scene_of_the_simulation_is_measured() -> None:
    scenes = {(scene.draw, scene.systems, level) for scene in coverage.SCENES for level in scene.levels}
    assert scenes == set(measured.MEASURED)


def test_cautions_stand_where_coverage_is_bad() -> None:
    for (draw, systems, level), kinds in measured.MEASURED.items():
        if draw == "boot-systems":
            continue
        units = systems if draw == "boot-both" else 40
        for kind in ("percentile", "bca"):
            about_kind = set(measured.cautions(draw, kind, level, units)) - {measured.SMALL_S_CAUTION}
            if kinds[kind] < 90:
                assert about_kind == {measured.FIXED_SYSTEMS_CAUTION}
            elif kinds[kind] < 98.5:
                assert not about_kind
    assert measured.cautions("boot-both", "bca", "overall", 10) == (measured.SMALL_S_CAUTION,)
    assert measured.cautions("boot-both", "bca", "overall", 11) == ()
    assert measured.WIDE_CAUTION in measured.cautions("boot-both", "percentile", "system", 40)


def test_few_units_are_told_what_was_measured_with_as_few_of_the_same_kind() -> None:
    for level in ("overall", "system"):
        method = "true-means" if level == "system" else "expanded"
        assert measured.cautions("boot-inputs", method, level, 30) == ()
        for units, near in ((5, 6), (6, 6), (11, 8), (29, 12)):
            (said,) = measured.cautions("boot-inputs", method, level, units)
            figures = measured.DEFAULTS[level, near].values()
            assert said.startswith(f"only {units} story-prompts: in simulated studies with {near}, ")
            assert f"{min(figures):.0f}" in said
            assert f"{max(figures):.0f} %" in said
            assert ("of a difference of two judges" in said) == (level == "system")
        (said,) = measured.cautions("boot-systems", "expanded", level, 10)
        assert f"{measured.MEASURED['boot-systems', 10, level]['expanded']:g} %" in said
        assert measured.cautions("boot-systems", "expanded", level, 30) == ()
        (plain,) = measured.cautions("boot-inputs", "percentile", level, 12)
        assert 'interval_kind="auto"' in plain


def test_every_size_of_the_simulation_of_defaults_is_measured() -> None:
    assert set(measured.DEFAULTS) == {(level, size) for level in intervals.LEVELS for size in intervals.SIZES}
    assert set(measured.LEADS) == {size for size in intervals.SIZES if size < measured.FEW}
    for figures in (*measured.DEFAULTS.values(), *measured.STORIES_FOR_FEW.values()):
        assert set(figures) == set(intervals.COEFFICIENTS)


def test_a_short_simulation_of_defaults_agrees_with_what_is_quoted() -> None:
    # Binomial limits of 1 in 10,000 each way, as above.
    outcomes = [intervals.study(seed, world=World(story_prompts=6)) for seed in range(24)]
    for level in intervals.LEVELS:
        for coefficient in intervals.COEFFICIENTS:
            held = sum(outcome[f"{level}, {coefficient}, opinionated"] == 1.0 for outcome in outcomes)
            share = measured.DEFAULTS[level, 6][coefficient] / 100
            assert binom.ppf(1e-4, 24, share) <= held


def test_cautions_quote_the_measured_numbers() -> None:
    overall, system = (measured.MEASURED["boot-both", 10, level] for level in ("overall", "system"))
    for value in (overall["percentile"], overall["bca"], system["percentile"], system["bca"]):
        assert any(f"{text} %" in measured.SMALL_S_CAUTION for text in (f"{value:.0f}", f"{value:.1f}"))
    assert f"{measured.MEASURED['boot-inputs', 10, 'system']['bca']:.0f} %" in measured.FIXED_SYSTEMS_CAUTION
    both = [measured.MEASURED["boot-both", systems, "system"]["bca"] for systems in (40, 10)]
    assert min(both) > 93.5
    assert max(both) < 97.5
    assert "94 to 97 %" in measured.WIDE_CAUTION
