"""The leave-one-out ceiling, by hand and on the released HANNA columns."""

from __future__ import annotations

import csv
import json
import sys

import numpy as np
import pytest
from scipy.stats import kendalltau

from judge.stats.ceiling import leave_one_out
from judge.stats.correlation import correlate


def test_each_rater_is_compared_with_the_mean_of_the_others() -> None:
    rng = np.random.default_rng(0)
    ratings = rng.integers(1, 6, (30, 3)).astype(float)
    ratings[4, 1] = np.nan
    found = leave_one_out(ratings, correlate)
    parts = []
    for i in range(3):
        others = np.nanmean(np.delete(ratings, i, axis=1), axis=1)
        keep = ~np.isnan(ratings[:, i])
        parts.append(kendalltau(ratings[keep, i], others[keep]).statistic)
    assert found.value == pytest.approx(np.mean(parts), abs=1e-12)
    assert (found.n, found.method) == (30, "leave-one-out, 3 of 3 raters")


def test_a_single_rater_has_nobody_to_compare_with() -> None:
    found = leave_one_out(np.array([[1.0], [2], [3]]), correlate)
    assert found.value is None
    assert found.reason == "human ceiling undefined with fewer than 2 raters"


def test_hanna_columns_give_the_recomputed_ceiling(studies) -> None:
    # tau-b of each rater column with the mean of the other two, mean of three, x100, ten machine systems
    # (scipy.stats.kendalltau over columns "Human i" and "Human Avg i").
    expected = {"RE": 5.7, "CH": -20.9, "EM": 5.6, "SU": -8.2, "EG": 8.9, "CX": 19.2}
    csv.field_size_limit(sys.maxsize)
    with (studies / "hanna" / "hanna_metric_scores_llm.csv").open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["Model"] != "Human"]
    for criterion, tau in expected.items():
        ratings = np.stack(
            [np.concatenate([json.loads(row[f"Human {i} {criterion}"]) for row in rows]) for i in (1, 2, 3)], axis=1
        )
        found = leave_one_out(ratings.astype(float), correlate)
        assert found.n == 960
        assert round(100 * found.value, 1) == tau
