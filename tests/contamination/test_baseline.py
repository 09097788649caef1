"""What share of other unseen texts reaches a threshold, with books as clusters; and the share corrected for it."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

from judge.contamination.thresholds import NO_RATES, Threshold, corrected, expected_rates, of_unseen
from judge.stats.estimation.proportions import effective_size
from judge.stats.ordering import discrimination as roc


def labelled(rng: np.random.Generator, texts: int = 80) -> tuple[np.ndarray, np.ndarray]:
    label = np.arange(texts) % 2 == 0
    return rng.normal(0.8 * label, 1), label


def test_what_the_choice_of_a_threshold_flatters_is_taken_out() -> None:
    """Youden's threshold looks for a gap among its own unseen texts, which others do not respect."""
    rng = np.random.default_rng(1)
    own, expected, true = [], [], []
    for _ in range(50):
        values, label = labelled(rng)
        at = roc.youden(values, label)
        own.append((values[~label] >= at).mean())
        expected.append(expected_rates(values, label, [None] * 80, roc.youden).false_positive_expected)
        true.append((rng.normal(0, 1, 2000) >= at).mean())
    assert np.mean(true) - np.mean(own) > 0.02
    # Out of the bag errs to the high side: half as much is learnt of each threshold's place.
    assert np.mean(true) - 0.01 < np.mean(expected) < np.mean(true) + 0.035


def test_books_are_expected_whole_and_count_as_clusters() -> None:
    rng = np.random.default_rng(2)
    book = np.repeat(np.arange(40), 10)
    label = book % 2 == 0
    values = rng.normal(0, 1, 40)[book] + rng.normal(0, 0.3, 400) + label
    found = expected_rates(values, label, [f"b{b}" for b in book], roc.youden)
    assert found.unseen_groups == 20
    assert found.unseen_effective < 80
    alone = expected_rates(values, label, [None] * 400, roc.youden)
    assert alone.unseen_groups == 200
    assert alone.unseen_effective > 150
    # The order of texts decides nothing.
    order = rng.permutation(400)
    turned = expected_rates(values[order], label[order], [f"b{b}" for b in book[order]], roc.youden)
    assert asdict(turned) == pytest.approx(asdict(found))


def test_clean_stories_are_not_above_the_baseline() -> None:
    rng = np.random.default_rng(3)
    above = plain = 0
    for _ in range(50):
        values, label = labelled(rng)
        at = roc.youden(values, label)
        expected = expected_rates(values, label, [None] * 80, roc.youden)
        called = rng.normal(0, 1, 300) >= at
        above += (corrected(called, np.arange(300), expected).low or 0.0) > 0  # None: no better than chance
        plain += called.mean() > (values[~label] >= at).mean()
    # 5 % at most: of 50, more than 5 have a chance of 4 %.
    assert above <= 5
    assert plain / 50 > 0.4


def test_a_scores_file_of_before_has_no_baseline() -> None:
    record = {"rule": "youden", "value": -3.0, "set": "s", "texts": 80, "seen": 40}
    record |= {"auc": 0.7, "auc_low": 0.6, "auc_high": 0.8, "auc_method": "m", "false_positive": 0.05}
    old = Threshold.of(record | {"true_positive": 0.4})
    assert old.labelled is not None
    assert old.labelled.expected is None
    assert old.record == record | {"true_positive": 0.4}
    assert of_unseen(None, 40).reason == NO_RATES
    assert corrected(np.ones(3, dtype=bool), np.arange(3), None).reason == NO_RATES


def test_a_clustered_share_is_worth_fewer_trials() -> None:
    hits = np.repeat([1.0, 0.0, 0.0, 1.0], 25)
    assert effective_size(hits, np.repeat(np.arange(4), 25)) == pytest.approx(3.0)
    assert effective_size(hits, np.arange(100)) == pytest.approx(99.0)
    assert effective_size(np.zeros(100), np.repeat(np.arange(4), 25)) == 4.0
