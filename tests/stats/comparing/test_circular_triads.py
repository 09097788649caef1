"""Cyclic triads, counted by hand and by brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from judge.stats.comparing import davidson
from judge.stats.comparing.paired_comparisons import Comparisons
from judge.stats.comparing.preference_agreement import GUESSING, circular_triads
from tests.stats.comparing.simulated import study
from tests.stats.comparing.test_strengths import fitted


def test_brute_force_counts_the_same() -> None:
    found = study(np.random.default_rng(1), 12, systems=5, taste=1.0)
    cyclic = strict = uneven = 0
    for g in range(12):
        rows = np.flatnonzero(found.cluster == g)
        net = np.zeros((5, 5))
        for r in rows:
            lead = found.ended[r, 0] - found.ended[r, 1]
            net[found.first[r], found.second[r]] += lead
            net[found.second[r], found.first[r]] -= lead
        for a, b, c in itertools.combinations(range(5), 3):
            signs = [np.sign(net[a, b]), np.sign(net[b, c]), np.sign(net[c, a])]
            uneven += 0 in signs
            strict += 0 not in signs
            cyclic += abs(sum(signs)) == 3
    result = circular_triads(found)
    assert (result.cyclic, result.strict, result.uneven) == (cyclic, strict, uneven)
    assert result.share.value == pytest.approx(cyclic / strict)


def test_coin_tosses_make_a_quarter_cyclic() -> None:
    rng = np.random.default_rng(2)
    i, j = np.triu_indices(4, 1)
    won = rng.random(6 * 500) < 0.5
    ended = np.column_stack([won, ~won, np.zeros(won.size)]).astype(float)
    found = Comparisons(tuple("abcd"), np.tile(i, 500), np.tile(j, 500), ended, np.repeat(np.arange(500), 6))
    share = circular_triads(found).share
    assert share.low is not None
    assert share.high is not None
    assert share.low < GUESSING < share.high


def test_what_a_fit_expects_is_what_it_draws() -> None:
    rng = np.random.default_rng(3)
    found = study(rng, 2000, taste=0)
    result = circular_triads(found, fitted(found).chances(found.first, found.second))
    assert result.expected.value == pytest.approx(result.share.value, abs=0.015)


def test_two_stories_make_no_triad() -> None:
    found = study(np.random.default_rng(4), 10, systems=2)
    result = circular_triads(found)
    assert result.share.reason == "undefined without three stories that were all compared"
    assert davidson.fit(found, position=False) is not None
