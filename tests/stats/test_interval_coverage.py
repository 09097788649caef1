"""The measured coverage is what the simulation gives; cautions are given where it is bad and only there."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scipy.stats import binom

from judge.stats import interval_coverage as measured
from tests.benchmarks import coverage

SIMULATED = {"percentile": "percentile", "bca": "BCa"}


@pytest.mark.parametrize("draw", ["boot-stories", "boot-inputs"])
def test_a_short_simulation_agrees_with_the_measured_coverage(draw: str) -> None:
    # Binomial limits of 1 in 10,000 each way: fails for a coverage that is wrong by some 12 points or more.
    (scene,) = [scene for scene in coverage.SCENES if scene.draw == draw]
    tallies = coverage.simulate(replace(scene, sets=min(scene.sets, 4)), 160, 300, seed=5)
    for level in scene.levels:
        for kind, name in SIMULATED.items():
            tally = tallies[level, name]
            held = len(tally.widths) - tally.below - tally.above
            share = measured.MEASURED[draw, scene.systems, level][kind] / 100
            assert binom.ppf(1e-4, 160, share) <= held <= binom.ppf(1 - 1e-4, 160, share)


def test_every_scene_of_the_simulation_is_measured() -> None:
    scenes = {(scene.draw, scene.systems, level) for scene in coverage.SCENES for level in scene.levels}
    assert scenes == set(measured.MEASURED)


def test_cautions_stand_where_coverage_is_bad() -> None:
    for (draw, systems, level), kinds in measured.MEASURED.items():
        for kind in ("percentile", "bca"):
            about_kind = set(measured.cautions(draw, kind, level, systems)) - {measured.SMALL_S_CAUTION}
            if kinds[kind] < 90:
                assert about_kind == {measured.FIXED_SYSTEMS_CAUTION}
            elif kinds[kind] < 98.5:
                assert not about_kind
    assert measured.cautions("boot-both", "bca", "overall", 10) == (measured.SMALL_S_CAUTION,)
    assert measured.cautions("boot-both", "bca", "overall", 11) == ()
    assert measured.WIDE_CAUTION in measured.cautions("boot-both", "percentile", "system", 40)


def test_the_recommended_kind_never_falls_far_below_what_it_says() -> None:
    for (draw, _, _), kinds in measured.MEASURED.items():
        assert kinds[measured.recommended(draw)] >= 93


def test_cautions_quote_the_measured_numbers() -> None:
    overall, system = (measured.MEASURED["boot-both", 10, level] for level in ("overall", "system"))
    for value in (overall["percentile"], overall["bca"], system["percentile"], system["bca"]):
        assert any(f"{text} %" in measured.SMALL_S_CAUTION for text in (f"{value:.0f}", f"{value:.1f}"))
    assert f"{measured.MEASURED['boot-inputs', 10, 'system']['bca']:.0f} %" in measured.FIXED_SYSTEMS_CAUTION
    both = [measured.MEASURED["boot-both", systems, "system"]["bca"] for systems in (40, 10)]
    assert min(both) > 93.5
    assert max(both) < 97.5
    assert "94 to 97 %" in measured.WIDE_CAUTION
