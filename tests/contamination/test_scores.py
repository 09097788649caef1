"""Scores against the published formulas, written out once more as plainly as can be, and against figures by hand."""

from __future__ import annotations

import math
import zlib

import numpy as np
import pytest

from judge.contamination import scores


def some(seed: int = 0, n: int = 97) -> np.ndarray:
    """Log-probabilities of a text of n tokens, the first without one."""
    values = -np.random.default_rng(seed).exponential(2.5, n)
    values[0] = np.nan
    return values


@pytest.mark.parametrize("n", [2, 6, 11, 33, 97, 700])
@pytest.mark.parametrize("ratio", [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
def test_min_k_is_minus_what_the_reference_code_prints(n: int, ratio: float) -> None:
    values = some(n, n)
    known = values[1:].tolist()
    # github.com/swj0419/detect-pretrain-code, src/run.py: k_length = int(len(all_prob) * ratio); topk = the smallest;
    # pred = -np.mean(topk).item(). The mean of nothing is NaN there.
    length = int(len(known) * ratio)
    lowest = sorted(known)[:length]
    found = scores.min_k(values, 100 * ratio)
    if length == 0:
        assert found.value is None
        assert "too short" in str(found.reason)
    else:
        assert found.value == pytest.approx(-(-math.fsum(lowest) / length), abs=1e-12)
        assert found.n == length


def test_the_share_is_cut_off_and_never_rounded() -> None:
    values = np.array([np.nan, -1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0, -8.0, -9.0])
    assert scores.min_k(values, 20).value == -9.0  # 9 tokens x 0.2 = 1.8: one token
    assert scores.min_k(values, 34).value == pytest.approx(-8.0)  # 3.06: three
    assert scores.min_k(values[:5], 20).value is None  # 4 tokens x 0.2 = 0.8: none
    assert scores.min_k(values, 100).value == pytest.approx(scores.loss(values).value)


def test_loss_zlib_and_their_units() -> None:
    values = np.array([np.nan, math.log(0.5), math.log(0.25)])
    assert scores.loss(values).value == pytest.approx(-1.5 * math.log(2))
    text = "a text, a text, a text"
    assert scores.zlib(values, text).value == pytest.approx(-1.5 * math.log(2) / len(zlib.compress(text.encode())))


def test_ratios_point_the_same_way_as_their_papers() -> None:
    values, other = np.array([np.nan, -1.0, -1.0]), np.array([np.nan, -3.0, -3.0])
    assert scores.lowercase(values, other).value == pytest.approx(3.0)  # harder in lower case: seen
    assert scores.reference_difference(values, other).value == pytest.approx(2.0)  # harder for another model: seen
    assert scores.reference_ratio(values, other).value == pytest.approx(3.0)
    after = np.array([-9.0, -2.0, -2.0])
    assert scores.recall(values, after).value == pytest.approx(2.0)  # the first token, without a partner, is left out


def test_min_k_plus_plus_standardises_by_the_models_own_distribution() -> None:
    p = np.array([0.7, 0.2, 0.1])
    mu = float((p * np.log(p)).sum())
    sigma = math.sqrt(float((p * np.log(p) ** 2).sum()) - mu**2)
    drawn = np.array([0, 0, 0, 0, 0, 0, 0, 0, 1, 2])
    values = np.append(np.nan, np.log(p[drawn]))
    mean, variance = np.append(np.nan, np.full(10, mu)), np.append(np.nan, np.full(10, sigma**2))
    expected = ((math.log(0.1) - mu) / sigma + (math.log(0.2) - mu) / sigma) / 2
    assert scores.min_k_plus_plus(values, mean, variance, 20).value == pytest.approx(expected)
    variance[-1] = 0.0  # a position where only one token is possible says nothing
    assert scores.min_k_plus_plus(values, mean, variance, 20).n == 1


@pytest.mark.parametrize("values", [np.array([]), np.array([np.nan])])
def test_a_text_without_a_scored_token_has_no_score_and_says_why(values: np.ndarray) -> None:
    found = [
        scores.loss(values),
        scores.min_k(values),
        scores.zlib(values, ""),
        scores.lowercase(values, values),
        scores.reference_difference(values, values),
        scores.recall(values, values),
        scores.min_k_plus_plus(values, values, values),
    ]
    assert all(one.value is None and one.reason == scores.EMPTY for one in found)


def test_a_certain_text_has_no_ratio() -> None:
    certain = np.array([np.nan, 0.0, 0.0])
    assert scores.lowercase(certain, np.array([np.nan, -1.0])).reason == scores.CERTAIN


def test_k_must_be_a_share() -> None:
    with pytest.raises(ValueError, match="not a share"):
        scores.min_k(some(), 0)
