"""BLEU and ROUGE-L by hand."""

from __future__ import annotations

import math

import pytest

from judge.reproduce.storyer import bleu, rouge_l


def test_a_text_overlaps_with_itself_wholly() -> None:
    texts = ["a fine end to the tale", "I did not like the middle of it"]
    assert bleu(texts, texts) == pytest.approx(1)
    assert rouge_l(texts, texts) == pytest.approx(1)


def test_by_hand() -> None:
    """Words 2 of 3; pairs 1 of 2; threes and fours none: .1 of 1, .1 of 1 (there is no four); brevity exp(1 - 4/3)."""
    one = [2 / 3, math.sqrt(2 / 3 * 1 / 2), (2 / 3 * 1 / 2 * 0.1) ** (1 / 3), (2 / 3 * 1 / 2 * 0.1 * 0.1) ** (1 / 4)]
    assert bleu(["the end came"], ["the end was good"]) == pytest.approx(math.exp(1 - 4 / 3) * sum(one) / 4)
    # The longest common subsequence has 2 words of 3 and of 4.
    assert rouge_l(["the end came"], ["the end was good"]) == pytest.approx(2 * 2 / 7)


def test_repeated_words_are_clipped() -> None:
    assert rouge_l(["good good good"], ["good"]) == pytest.approx(0.5)
    assert bleu(["good good good good"], ["good bad bad bad"]) < 0.25
