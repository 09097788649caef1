"""Folds of groups: no group is in two, and the deal goes by the groups' names alone."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from judge.stats.resampling.bootstrap import deal, folds_of_groups


@given(st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=40), st.integers(2, 6), st.integers(0, 9))
def test_each_group_is_in_one_fold_and_folds_hold_equally_many(groups: list[str], folds: int, seed: int) -> None:
    found = folds_of_groups(groups, folds, seed)
    places = {(group, int(fold)) for group, fold in zip(groups, found, strict=True)}
    assert len(places) == len(set(groups))
    counts = np.bincount([fold for _, fold in places], minlength=folds)
    assert counts.max() - counts.min() <= 1
    shuffled = groups[::-1]
    assert folds_of_groups(shuffled, folds, seed).tolist() == found[::-1].tolist()


def test_no_rows_have_no_folds() -> None:
    assert deal(np.empty(0, dtype=np.int64), 5, np.random.default_rng(1)).size == 0
