"""Winners and orders where numbers are equal but for their last digits."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from judge.base.records import Criterion, Scale
from judge.explanations.audit.population import Population
from judge.stats import near_ties
from judge.stats.ordering import ranking

NOISE = 0.1 + 0.2  # 0.30000000000000004


def test_the_first_of_equals_wins_whatever_their_last_digits() -> None:
    assert near_ties.highest([0.1, 0.3, NOISE]) == 1
    assert near_ties.highest([0.1, NOISE, 0.3]) == 1
    assert near_ties.lowest([0.4, NOISE, 0.3]) == 1
    assert near_ties.highest([0.3, 0.3 + 1e-8]) == 1


def test_missing_values_lose_to_every_number() -> None:
    assert near_ties.highest([None, math.nan, -5.0]) == 2
    assert near_ties.lowest([None, math.nan, 5.0]) == 2
    assert near_ties.highest([None, math.nan]) == 0
    with pytest.raises(ValueError, match="empty"):
        near_ties.highest([])


def test_orders_keep_equals_as_they_came() -> None:
    assert near_ties.descending([0.3, None, NOISE, 1.0, math.nan, 0.3 - 1e-16]) == [3, 0, 2, 5, 1, 4]
    assert near_ties.descending([]) == []
    # 2**-10 has ten decimals: rounding to nine would part it from its neighbour by the last digit.
    assert near_ties.descending([2**-10, math.nextafter(2**-10, 1), 0.5]) == [2, 0, 1]
    values = np.random.default_rng(0).normal(size=2000)
    assert near_ties.descending(values.tolist()) == np.argsort(-values, kind="stable").tolist()


def test_letters_of_systems_with_equal_means_go_by_their_order() -> None:
    apart = ~np.eye(3, dtype=bool)
    assert ranking.letters(apart, np.array([0.3, NOISE, 1.0])) == ["b", "c", "a"]


def test_a_gap_of_just_a_quarter_of_the_scale_counts_as_one() -> None:
    assert 0.7 - 0.4 < 1.2 / 4  # as floats; as numbers they are equal
    frame = pd.DataFrame({"criterion": ["Overall"] * 2, "gap": [0.7 - 0.4, 0.4 - 0.7]})
    scale = Criterion("Overall", "O", "", scale=Scale(0.0, 1.2, 0.1))
    found = Population(frame, {}, pd.DataFrame(), {"Overall": scale}, (), ()).level("gap")
    assert found.tolist() == ["above people", "below people"]
