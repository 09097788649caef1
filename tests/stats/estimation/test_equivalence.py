"""TOST: two one-sided t tests by scipy and statsmodels, and what cannot be tested."""

from __future__ import annotations

import numpy as np
import pytest

from judge.stats.estimation.means import tost

D = np.array([0.3, -0.2, 0.1, 0.5, 0.0, -0.4, 0.2, 0.25, 0.1, -0.05, 0.15, 0.3])


def test_p_is_that_of_statsmodels() -> None:
    # statsmodels 0.15.0, weightstats.ttost_paired(d, zeros, -.4, .3): p .008690752144195764, with the one-sided
    # tests t 7.199645057946397, p 8.76680636596237e-06 and t -2.7965563448221538, p .008690752144195764.
    found = tost(D, -0.4, 0.3)
    assert found.p == pytest.approx(0.008690752144195764, abs=1e-14)
    assert found.p_low == pytest.approx(8.76680636596237e-06, abs=1e-16)


def test_equivalence_is_shown_exactly_when_the_90_percent_interval_is_inside() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        d = rng.normal(rng.uniform(-0.5, 0.5), 1, 40)
        found = tost(d, -0.4, 0.4)
        inside = found.difference.low > -0.4 and found.difference.high < 0.4
        assert inside == (found.p < 0.05)
    assert found.difference.method == "t, 90 %"


def test_what_cannot_be_tested() -> None:
    assert tost(np.array([0.1]), -1, 1).difference.reason == "undefined with fewer than 2 differences"
    same = tost(np.zeros(5), -1, 1)
    assert (same.p, same.difference.value) == (None, 0.0)
    assert same.difference.reason == "no test: the differences are all equal"
    with pytest.raises(ValueError, match="must ascend: 1, -1"):
        tost(D, 1, -1)


def test_clustered_differences_have_the_clustered_standard_error() -> None:
    d, prompts = np.repeat(D, 3), np.repeat(np.arange(D.size), 3)
    once, thrice = tost(D, -0.4, 0.3), tost(d, -0.4, 0.3, cluster=prompts)
    # Three equal differences for each story-prompt say what one of them says.
    assert thrice.p == pytest.approx(once.p, rel=1e-9)
    assert thrice.difference.low == pytest.approx(once.difference.low, rel=1e-9)
    assert thrice.difference.method == "t, clustered by story-prompt, 90 %"
    assert tost(D, -1, 1, cluster=np.zeros(D.size, dtype=np.int64)).p is None
