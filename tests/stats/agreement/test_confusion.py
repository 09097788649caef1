"""Labels beside labels: every statistic equals scikit-learn's or our own of raw ratings; nothing is 0 by convention."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from judge.stats.agreement.chance_agreement import gwet
from judge.stats.agreement.confusion import confusion
from judge.stats.agreement.krippendorff import alpha
from judge.stats.resampling import bootstrap


def labelled(n: int, q: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    people = rng.integers(0, q, n).astype(float)
    judge = np.where(rng.random(n) < 0.6, people, rng.integers(0, q, n)).astype(float)
    return judge, people


@pytest.mark.parametrize("q", [2, 3, 5])
@pytest.mark.parametrize("seed", range(20))
def test_statistics_equal_scikit_learn(q: int, seed: int) -> None:
    judge, people = labelled(80, q, seed)
    found = confusion(judge, people, q, positive=1).statistics()
    mean = {"average": "binary", "pos_label": 1} if q == 2 else {"average": "macro"}
    theirs = {
        "accuracy": metrics.accuracy_score(people, judge),
        "balanced_accuracy": metrics.balanced_accuracy_score(people, judge),
        "precision": metrics.precision_score(people, judge, **mean),
        "recall": metrics.recall_score(people, judge, **mean),
        "f1": metrics.f1_score(people, judge, **mean),
        "phi": metrics.matthews_corrcoef(people, judge),
        "kappa": metrics.cohen_kappa_score(people, judge),
    }
    for name, value in theirs.items():
        assert found[name].value == pytest.approx(value, abs=1e-12), name
    if q == 2:
        assert found["phi"].value == pytest.approx(np.corrcoef(judge, people)[0, 1], abs=1e-12)


@pytest.mark.parametrize("q", [2, 4])
@pytest.mark.parametrize("seed", range(10))
def test_chance_corrected_ones_equal_those_of_raw_ratings(q: int, seed: int) -> None:
    judge, people = labelled(60, q, seed)
    found = confusion(judge, people, q).statistics()
    table = np.column_stack([people, judge])
    assert found["ac1"].value == pytest.approx(gwet(table, categories=np.arange(q, dtype=float)).estimate.value)
    rng = np.random.default_rng(1)
    assert found["alpha"].value == pytest.approx(alpha(table, "nominal", rng, resamples=0).estimate.value)


def test_an_answer_that_was_lost_is_no_label() -> None:
    judge, people = np.array([1, np.nan, 0, 1.0]), np.array([1, 1, np.nan, 0.0])
    found = confusion(judge, people, 2, positive=1)
    assert found.n == 2
    assert found.counts.tolist() == [[0, 1], [0, 1]]
    assert found.statistics()["accuracy"].value == 0.5


def test_what_nobody_said_is_undefined_and_says_why() -> None:
    always_no = confusion(np.zeros(10), np.array([0.0, 1] * 5), 2, positive=1).statistics()
    assert always_no["recall"].value == 0
    assert always_no["balanced_accuracy"].value == 0.5
    assert always_no["precision"].reason == "undefined: the judge never gave a label that precision is of"
    assert always_no["phi"].reason == "undefined: all stories have one label"
    assert always_no["kappa"].value == 0
    one = confusion(np.zeros(10), np.zeros(10), 2, positive=1).statistics()
    assert one["accuracy"].value == 1
    assert one["ac1"].value == 1, "as Gwet's coefficient of annotators with two categories"
    for name in ("phi", "kappa", "alpha", "precision", "recall", "f1", "balanced_accuracy"):
        assert one[name].value is None, name
    nothing = confusion(np.full(3, np.nan), np.zeros(3), 2).statistics()
    assert {estimate.reason for estimate in nothing.values()} == {"undefined: no story has a label of both"}


def test_a_code_that_is_no_label_is_refused() -> None:
    with pytest.raises(ValueError, match="none of the 2 labels"):
        confusion(np.array([0.5]), np.array([1.0]), 2)
    with pytest.raises(ValueError, match="none of the 2 labels"):
        confusion(np.array([2.0]), np.array([1.0]), 2)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_a_resample_is_the_statistic_of_the_drawn_stories(seed: int) -> None:
    judge, people = labelled(30, 2, seed)
    judge[:3] = np.nan
    unit = np.repeat(np.arange(10), 3)
    drawn = bootstrap.draw(unit, 4, np.random.default_rng(seed), "boot-inputs")
    found = confusion(judge, people, 2, positive=1)
    matrices = found._matrices(drawn.weights().astype(np.int64))
    for b, weights in enumerate(drawn.weights()):
        rows = np.repeat(np.arange(30), weights)
        again = confusion(judge[rows], people[rows], 2, positive=1)
        assert matrices[b].tolist() == again.counts.tolist()


def test_intervals_of_clustered_labels_cover() -> None:
    """Labels of one story-prompt hang together; the interval resamples story-prompts."""
    hits, studies, truth = 0, 200, 0.7
    for seed in range(studies):
        rng = np.random.default_rng(seed)
        unit = np.repeat(np.arange(40), 5)
        right = rng.beta(truth * 4, (1 - truth) * 4, 40)[unit] > rng.random(unit.size)
        people = rng.integers(0, 2, unit.size).astype(float)
        judge = np.where(right, people, 1 - people)
        drawn = bootstrap.draw(unit, 400, rng, "boot-inputs")
        estimate = confusion(judge, people, 2, positive=1).statistics(drawn)["accuracy"]
        assert estimate.low is not None
        assert estimate.high is not None
        hits += estimate.low <= truth <= estimate.high
    # Nominal 95 %; four standard errors of 200 studies below and above.
    assert 0.89 <= hits / studies <= 1.0
