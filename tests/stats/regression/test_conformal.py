"""Conformal intervals: the quantile by hand, and coverage for new story-prompts with skewed errors."""

from __future__ import annotations

import math

import numpy as np
import pytest

from judge.stats.regression.calibration import reach


def test_with_one_story_each_it_is_the_usual_quantile() -> None:
    """The ceil((n + 1) level)-th smallest error (Lei et al. 2018): 9 errors, level .8: the 8th."""
    errors = np.array([9.0, 1, 2, 3, 4, 5, 6, 7, 8])
    assert reach(errors, np.arange(9), 0.8) == 8
    assert reach(errors, np.arange(9), 0.95) == math.inf


def test_a_story_prompt_weighs_the_same_however_many_stories_it_has() -> None:
    errors = np.array([1.0] * 50 + [2, 3, 4])
    clusters = np.array([0] * 50 + [1, 2, 3])
    assert reach(errors, clusters, 0.5) == 3
    assert reach(errors, np.arange(53), 0.5) == 1


@pytest.mark.parametrize(("prompts", "level"), [(12, 0.8), (40, 0.9)])
def test_coverage_for_new_story_prompts(prompts: int, level: float) -> None:
    rng, held = np.random.default_rng(prompts), []
    for _ in range(600):
        size = rng.integers(1, 9, prompts + 1)
        cluster = np.repeat(np.arange(prompts + 1), size)
        shared = rng.exponential(size=prompts + 1)[cluster]
        errors = np.abs(shared * rng.standard_t(4, cluster.size) + shared)
        new = cluster == prompts
        held.append((errors[new] <= reach(errors[~new], cluster[~new], level)).mean())
    assert level - 0.03 <= np.mean(held) <= level + 2 / prompts


def test_a_level_is_a_share() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        reach(np.ones(3), np.arange(3), 1.0)
