"""D-studies against Brennan 2001 and brute force, and what cannot be reached."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product
from math import prod

import numpy as np
import pytest

from judge.base.errors import SpecError
from judge.base.estimate import Estimate
from judge.stats.agreement.d_study import INFINITE, d_study, smallest
from judge.stats.agreement.variance_components import Facet, VarianceComponents, variance_components
from tests.stats.brennan import SET_3, SET_4


def _set_3() -> VarianceComponents:
    return variance_components(SET_3, [Facet("p"), Facet("o"), Facet("i")], rng=np.random.default_rng(0))


def _run(seed: int = 3, **sd: float) -> VarianceComponents:
    """Five systems, eight story-prompts, three Eval-Prompts, two repeats nested in queries."""
    rng = np.random.default_rng(seed)
    shape = (5, 8, 3, 2)
    facets = [Facet("system"), Facet("story-prompt"), Facet("Eval-Prompt")]
    known = {"s": 0.8, "p": 0.6, "e": 0.4, "sp": 0.5, "se": 0.3, "pe": 0.2, "r": 0.9, **sd}
    axes = {"s": (5, 1, 1, 1), "p": (1, 8, 1, 1), "e": (1, 1, 3, 1), "sp": (5, 8, 1, 1), "se": (5, 1, 3, 1)}
    axes |= {"pe": (1, 8, 3, 1), "r": shape}
    ratings = sum((rng.normal(0, known[name], size) for name, size in axes.items()), np.zeros(shape))
    outer = ("system", "story-prompt", "Eval-Prompt")
    return variance_components(ratings, [*facets, Facet("repeat", outer)], rng=rng)


def _rounded(estimate: Estimate, digits: int = 2) -> float:
    assert estimate.value is not None
    return round(estimate.value, digits)


# Brennan 2001, Generalizability Theory, chapter 4: coefficients of synthetic data sets 3 and 4.
def test_brennans_coefficients() -> None:
    crossed = d_study(_set_3(), ["p"], {"i": 4, "o": 2})
    assert (_rounded(crossed.relative), _rounded(crossed.absolute)) == (0.64, 0.55)
    fixed = d_study(_set_3(), ["p"], {"i": 4, "o": 2}, fixed=["i"])
    assert (_rounded(fixed.relative), _rounded(fixed.absolute)) == (0.81, 0.79)
    facets = [Facet("p"), Facet("t"), Facet("r", ("t",))]
    nested = d_study(variance_components(SET_4, facets, rng=np.random.default_rng(0)), ["p"], {"t": 3, "r": 4})
    assert (_rounded(nested.relative), _rounded(nested.absolute)) == (0.55, 0.46)


def test_brennans_intervals() -> None:
    # Brennan 2001, tables 6.2 and 6.5: data set 4 as p x i with 12 items, 80 % intervals (exact F for Ep²).
    facets = [Facet("p"), Facet("i")]
    ratings = SET_4.reshape(10, 12)
    found = variance_components(ratings, facets, rng=np.random.default_rng(0), draws=200_000)
    assert [_rounded(c.variance, 4) for c in found.components] == [0.6258, 0.8840, 2.7872]
    result = d_study(found, ["p"], {"i": 12}, confidence=0.8)
    assert _rounded(result.relative, 3) == 0.729
    assert (result.relative.low, result.relative.high) == pytest.approx((0.541, 0.876), abs=0.003)
    assert _rounded(result.absolute, 3) == 0.672
    assert (result.absolute.low, result.absolute.high) == pytest.approx((0.457, 0.845), abs=0.02)
    assert result.relative.n == 10


def test_standard_errors_are_those_of_simulated_means() -> None:
    # 4,000 new runs of one system with known components: the spread of its mean is the standard error.
    rng = np.random.default_rng(1)
    found = _run()
    variance = {str(c.term): c.truncated for c in found.components}
    repeat = "repeat in system x story-prompt x Eval-Prompt"
    sizes = {"story-prompt": (6, 1, 1), "Eval-Prompt": (1, 2, 1), "system x story-prompt": (6, 1, 1)}
    sizes |= {"system x Eval-Prompt": (1, 2, 1), "story-prompt x Eval-Prompt": (6, 2, 1)}
    sizes |= {"system x story-prompt x Eval-Prompt": (6, 2, 1), repeat: (6, 2, 3)}
    means = np.zeros(4000)
    for term, size in sizes.items():
        means += rng.normal(0, variance[term] ** 0.5, (4000, *size)).mean(axis=(1, 2, 3))
    result = d_study(found, ["system"], {"story-prompt": 6, "Eval-Prompt": 2, "repeat": 3})
    assert result.se == pytest.approx(float(means.std()), rel=0.05)
    assert result.se_difference < 2**0.5 * result.se  # what all systems share cancels in a difference


def test_a_storys_score_counts_all_its_own_variance_as_true() -> None:
    found = _run()
    v = {str(c.term): c.truncated for c in found.components}
    result = d_study(found, ["system", "story-prompt"], {"Eval-Prompt": 3, "repeat": 2})
    true = v["system"] + v["story-prompt"] + v["system x story-prompt"]
    mixed = v["system x Eval-Prompt"] + v["story-prompt x Eval-Prompt"] + v["system x story-prompt x Eval-Prompt"]
    error = mixed / 3 + v["repeat in system x story-prompt x Eval-Prompt"] / 6
    assert result.relative.value == pytest.approx(true / (true + error))
    assert result.absolute.value == pytest.approx(true / (true + error + v["Eval-Prompt"] / 3))
    assert result.relative.n == 40


def test_the_smallest_design_is_that_of_brute_force() -> None:
    found = _run(e=0.2)
    free = {"Eval-Prompt": 6, "repeat": 7, "story-prompt": 40}
    designs = [dict(zip(free, levels, strict=True)) for levels in product(*(range(1, n + 1) for n in free.values()))]
    every = [(prod(design.values()), d_study(found, ["system"], design)) for design in designs]
    for coefficient, target in product(("relative", "absolute"), (0.6, 0.8, 0.9)):
        plan = smallest(found, ["system"], target, free=free, kept={}, coefficient=coefficient)
        values = [(calls, -getattr(result, coefficient).value) for calls, result in every]
        calls, reached = min(one for one in values if -one[1] >= target)
        assert plan.calls == calls, (coefficient, target)
        assert getattr(d_study(found, ["system"], plan.levels), coefficient).value == pytest.approx(-reached)


def test_one_facet_alone() -> None:
    found = _run()
    plan = smallest(found, ["system"], 0.95, free={"story-prompt": 1000}, kept={"Eval-Prompt": 3, "repeat": 2})
    number = plan.levels["story-prompt"]
    assert number > 1
    assert plan.calls == 6 * number
    fewer = d_study(found, ["system"], {**plan.levels, "story-prompt": number - 1})
    assert fewer.relative.value < 0.95 <= d_study(found, ["system"], plan.levels).relative.value


def test_an_unreachable_target_says_the_limit() -> None:
    found = _run()
    kept = {"Eval-Prompt": 1, "story-prompt": 4}
    plan = smallest(found, ["system"], 0.95, free={"repeat": 1000}, kept=kept)
    assert plan.calls is None
    assert plan.limit == pytest.approx(d_study(found, ["system"], {**kept, "repeat": INFINITE}).relative.value)
    assert plan.reason == f"0.95 is out of reach: the limit is {plan.limit:.2f}"


def test_a_target_beyond_the_search_says_so() -> None:
    found = _run()
    kept = {"Eval-Prompt": 1000, "story-prompt": 1000}
    plan = smallest(found, ["system", "story-prompt"], 0.9999, free={"repeat": 2, "Eval-Prompt": 2}, kept={})
    assert plan.levels == {}
    assert "needs more levels than were searched (2 for repeat, 2 for Eval-Prompt)" in str(plan.reason)
    assert smallest(found, ["system"], 0.9, free={"repeat": 1}, kept=kept).calls == 1_000_000


def test_ratings_that_do_not_vary_give_no_coefficient() -> None:
    facets = [Facet("system"), Facet("story-prompt")]
    found = variance_components(np.full((3, 4), 2.0), facets, rng=np.random.default_rng(0))
    result = d_study(found, ["system"], {"story-prompt": 4})
    assert result.relative.reason == "undefined because nothing varies (0/0)"
    assert "nothing varies" in str(smallest(found, ["system"], 0.8, free={"story-prompt": 9}, kept={}).reason)


def test_what_was_not_estimated_is_refused() -> None:
    with pytest.raises(SpecError, match="variance of judge was not estimated"):
        d_study(_run(), ["system"], {"story-prompt": 3, "Eval-Prompt": 1, "repeat": 1, "judge": 2})
    with pytest.raises(SpecError, match="needs a number of levels for repeat"):
        d_study(_run(), ["system"], {"story-prompt": 3, "Eval-Prompt": 1})
    with pytest.raises(SpecError, match="1 or more levels of repeat"):
        d_study(_run(), ["system"], {"story-prompt": 3, "Eval-Prompt": 1, "repeat": 0})
    with pytest.raises(SpecError, match="a target of 1 is not a reliability"):
        smallest(_run(), ["system"], 1, free={"repeat": 2}, kept={"story-prompt": 3, "Eval-Prompt": 1})


_PRINTED = """
import numpy as np
from judge.stats.agreement import d_study
from judge.stats.agreement.variance_components import Facet
from judge.stats.agreement.variance_components import variance_components

names = ("system", "story-prompt", "Eval-Prompt", "repeat")
ratings = np.random.default_rng(1).normal(size=(4, 5, 3, 2))
parts = variance_components(ratings, [Facet(name) for name in names], rng=np.random.default_rng(1))
levels = {"story-prompt": 3, "Eval-Prompt": 11, "repeat": 13}
print(*(weight.hex() for _, weight in d_study._weights(parts, ["system"], levels, ())))
"""


def test_every_process_finds_the_same_to_the_last_digit() -> None:
    """A process hashes the names of facets in its own way, and so orders sets of them: 1/3/11 is not quite 1/11/3."""
    printed = set()
    for seed in ("1", "2"):
        changed = os.environ | {"PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", _PRINTED], env=changed, capture_output=True, text=True, check=True)
        printed.add(done.stdout)
    assert len(printed) == 1
