"""acc_eq: mt-metrics-eval's own examples and its numbers on HANNA, a naive search, and that held out is held out."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from judge.stats.ordering.pairwise_accuracy import calibrate
from judge.stats.resampling.bootstrap import deal

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "mt_metrics_eval.json").read_text(encoding="utf-8"))
RNG = np.random.default_rng


def naive(judge: np.ndarray, people: np.ndarray, pairs: list[tuple[int, int]], epsilon: float) -> float:
    """acc_eq of the pairs, one after the other."""
    right = 0
    for i, j in pairs:
        a, b = round(judge[i] - judge[j], 9), round(people[i] - people[j], 9)
        right += (b == 0) if abs(a) <= epsilon else a * b > 0
    return right / len(pairs)


def best(judge: np.ndarray, people: np.ndarray, pairs: list[tuple[int, int]], candidates: list[float]) -> float:
    """The smallest epsilon with the highest acc_eq."""
    values = [round(naive(judge, people, pairs, e), 12) for e in candidates]
    return candidates[int(np.argmax(values))]


# google-research/mt-metrics-eval, commit 0b82d96, mt_metrics_eval/tau_optimization_test.py: expected values of
# test_zero_threshold_is_best, test_nonzero_threshold_is_best and test_regression_example.
@pytest.mark.parametrize(("people", "epsilon", "acc"), [([1, 2, 3, 4], 0, 1.0), ([1, 1, 1, 4], 4, 4 / 6)])
def test_examples_of_mt_metrics_eval(people: list[int], epsilon: float, acc: float) -> None:
    found = calibrate(np.array([0.0, 2, 6, 8]), np.array(people, dtype=float), np.arange(4), np.arange(4))
    assert (found.epsilon, found.in_sample.value) == (epsilon, pytest.approx(acc))
    assert found.in_sample.n == 6


def test_regression_example_of_mt_metrics_eval() -> None:
    gone = np.nan
    judge = [[0, 5, 2, 3, 2], [gone, 2, 1, 5, 3], [9, 1, 5, 3, 8], [9, 3, 4, 4, 1], [gone] * 5]
    people = [[1, 5, 2, 1, 1], [4, 2, 2, 1, 4], [5, 9, 2, 8, 7], [7, 6, gone, 3, 2], [gone] * 5]
    unit = np.repeat(np.arange(5), 5)
    found = calibrate(
        np.array(judge, dtype=float).ravel(), np.array(people, dtype=float).ravel(), unit, unit, within=True
    )
    assert found.plain.value == pytest.approx(0.4666666666666667, abs=1e-12)
    assert found.in_sample.value == pytest.approx(0.4916666666666668, abs=1e-12)
    assert (found.epsilon, found.in_sample.n) == (1.0, 4)


@pytest.fixture(scope="module")
def hanna(studies: Path) -> list[dict[str, str]]:
    csv.field_size_limit(sys.maxsize)
    with (studies / "hanna" / "hanna_metric_scores_llm.csv").open(encoding="utf-8", newline="") as stream:
        return [row for row in csv.DictReader(stream) if row["Model"] != "Human"]


@pytest.mark.parametrize(
    "cell", GOLDEN["cells"], ids=lambda c: f"{c['judge']}-{c['criterion']}-{c['people_in_steps_of']}"
)
def test_hanna_as_mt_metrics_eval_computes_it(hanna: list[dict[str, str]], cell: dict) -> None:
    short = {"Relevance": "RE", "Complexity": "CX"}[cell["criterion"]]
    people = np.array([json.loads(row[cell["criterion"]]) for row in hanna])
    if cell["people_in_steps_of"]:
        people = np.round(people / cell["people_in_steps_of"])
    judge = np.round(60 * np.array([json.loads(row[f"{cell['judge']} {short} 1"]) for row in hanna]))
    item = np.tile(np.arange(96), 10)
    for name, within in (("by_item", True), ("overall", False)):
        found = calibrate(judge.ravel(), people.ravel(), item, item % 5, within=within)
        assert found.plain.value == pytest.approx(cell[name]["plain"], abs=1e-12)
        assert found.in_sample.value == pytest.approx(cell[name]["acc"], abs=1e-12)
        assert found.epsilon == cell[name]["epsilon"]


@pytest.mark.parametrize("within", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_held_out_epsilons_are_those_of_a_naive_search_without_the_pairs_folds(seed: int, within: bool) -> None:
    rng = RNG(seed)
    unit = np.repeat(np.arange(6), 3)
    people = rng.integers(1, 4, 18).astype(float)
    judge = np.round(people + rng.normal(0, 1.2, 18), 1)
    fold = deal(unit, 4, rng)
    found = calibrate(judge, people, unit, fold, within=within)
    pairs = [(i, j) for i in range(18) for j in range(i + 1, 18) if not within or unit[i] == unit[j]]
    candidates = sorted({round(abs(a - b), 9) for a in judge for b in judge})
    right, fitted = 0.0, {}
    for i, j in pairs:
        own = frozenset((int(fold[i]), int(fold[j])))
        if own not in fitted:
            others = [(a, b) for a, b in pairs if not own & {int(fold[a]), int(fold[b])}]
            fitted[own] = best(judge, people, others, candidates)
        right += naive(judge, people, [(i, j)], fitted[own])
    assert sorted(found.epsilons) == sorted(fitted.values())
    assert found.held_out.value == pytest.approx(right / len(pairs), abs=1e-12)
    assert found.epsilon == best(judge, people, pairs, candidates)
    assert found.right.sum() / found.taken.sum() == pytest.approx(found.held_out.value)


def test_equal_differences_of_thirds_and_sixths_are_one_epsilon() -> None:
    # 3 1/6 - 3 and 3 1/3 - 3 1/6 are both 1/6, but not once each value is rounded to 9 decimals.
    judge = np.array([3, 19 / 6, 10 / 3, 3.5, 11 / 3])
    sixths = np.array([0.0, 1, 2, 3, 4])
    people = np.array([1.0, 1, 1, 1, 2])
    exact, rounded = (calibrate(scores, people, np.arange(5), np.arange(5)) for scores in (sixths, np.round(judge, 9)))
    assert rounded.in_sample == exact.in_sample
    assert rounded.epsilon * 6 == pytest.approx(exact.epsilon, abs=1e-6)


def test_in_sample_flatters_a_judge_of_noise() -> None:
    rng = RNG(5)
    gaps = []
    for _ in range(20):
        unit = np.arange(40)
        people, judge = rng.integers(1, 3, 40).astype(float), rng.normal(size=40)
        found = calibrate(judge, people, unit, deal(unit, 5, rng))
        assert found.in_sample.value >= found.plain.value
        gaps.append(found.in_sample.value - found.held_out.value)
    assert np.mean(gaps) > 0.01


def test_folds_hold_whole_units_and_about_equally_many() -> None:
    unit = np.repeat(np.arange(23), 4)
    fold = deal(unit, 5, RNG(1))
    assert all(np.unique(fold[unit == u]).size == 1 for u in range(23))
    assert sorted(np.bincount(fold[::4])) == [4, 4, 5, 5, 5]
    assert not np.array_equal(fold, deal(unit, 5, RNG(2)))


def test_too_few_folds_leave_nothing_to_fit_on() -> None:
    rng = RNG(0)
    judge, people, unit = rng.normal(size=20), rng.integers(1, 4, 20).astype(float), np.repeat(np.arange(10), 2)
    found = calibrate(judge, people, unit, unit % 2)
    assert found.in_sample.defined
    assert found.held_out.reason == "undefined held out: 2 folds with stories leave none to fit epsilon on"
    assert calibrate(judge, people, unit, unit % 2, within=True).held_out.defined


def test_no_pair_no_accuracy() -> None:
    found = calibrate(np.array([np.nan, 1.0]), np.array([1.0, 2.0]), np.arange(2), np.arange(2))
    assert found.epsilon is None
    assert {e.reason for e in (found.plain, found.in_sample, found.held_out)} == {
        "undefined with fewer than 2 stories to pair"
    }


def test_many_levels_are_thinned_but_counted_exactly(monkeypatch) -> None:
    rng = RNG(9)
    people = rng.integers(1, 3, 80).astype(float)
    judge = people * 0.2 + rng.normal(size=80)
    unit = np.arange(80)
    exact = calibrate(judge, people, unit, unit % 5)
    monkeypatch.setattr("judge.stats.ordering.pairwise_accuracy._MOST_LEVELS", 30)
    monkeypatch.setattr("judge.stats.ordering.pairwise_accuracy._KEPT", 10)
    thin = calibrate(judge, people, unit, unit % 5)
    pairs = [(i, j) for i in range(80) for j in range(i + 1, 80)]
    assert thin.in_sample.value == pytest.approx(naive(np.round(judge, 9), people, pairs, thin.epsilon), abs=1e-12)
    assert thin.in_sample.value <= exact.in_sample.value
    assert thin.in_sample.value == pytest.approx(exact.in_sample.value, abs=0.01)
