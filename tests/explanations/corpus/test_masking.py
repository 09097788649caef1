"""Words that tell what a story is about are masked; words that are said of many stay."""

from __future__ import annotations

import numpy as np
import pytest

from judge.explanations.corpus.masking import LEAST_PROMPTS, mask, reach, words_of


def test_reach_is_the_expected_number_of_story_prompts() -> None:
    sizes = np.array([10, 10, 10, 10])
    assert reach(1, sizes) == pytest.approx(4 * (1 - (39 / 40) ** 10))
    assert reach(40, sizes) == pytest.approx(4)
    # Drawn with replacement 20,000 times: the mean number of prompts that 3 of 40 texts meet.
    rng = np.random.default_rng(1)
    hits = [np.unique(np.flatnonzero(rng.random(40) < 3 / 40) // 10).size for _ in range(20_000)]
    assert reach(3, sizes) == pytest.approx(np.mean(hits), abs=0.02)


def test_a_word_of_few_story_prompts_is_masked_and_one_of_a_third_stays() -> None:
    texts = [
        f"the ending of {chr(97 + p)}isle is rushed{' mostly' if p < 4 else ''}" for p in range(12) for _ in range(20)
    ]
    found = mask(texts, np.repeat(np.arange(12), 20))
    assert {"the", "ending", "of", "is", "rushed", "mostly"} == found.kept
    assert found.masked(["The ending of Aisle is RUSHED."]) == ["the ending of is rushed"]
    assert found.words == 6 + 12
    assert "used for fewer than a third" in found.note


def test_few_story_prompts_mask_nothing_and_say_so() -> None:
    found = mask(["a word", "another word"], np.array([0, 1]))
    assert found.masked(["A rare Word!"]) == ["a rare word"]
    assert f"fewer than {LEAST_PROMPTS} story-prompts" in found.note


def test_words_keep_apostrophes_and_leave_numbers_out() -> None:
    assert words_of("Doesn’t flow, 3 of 5; naïve_text") == ["doesn't", "flow", "of", "naïve", "text"]
