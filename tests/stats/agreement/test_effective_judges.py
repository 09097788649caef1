"""How many independent judges a panel is worth: panels whose number is known, with people's noise put in."""

from __future__ import annotations

import numpy as np
import pytest

from judge.stats.agreement.effective_judges import effective_judges, noise_of_means


def _panel(shared: float, members: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Judges whose errors correlate so far, and three people's ratings; 300 story-prompts of four stories."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(300), 4)
    truth = rng.gamma(2, 1, 300)[cluster] + rng.standard_t(6, 1200)
    common = rng.standard_normal((1200, 1))
    errors = 2 * (np.sqrt(shared) * common + np.sqrt(1 - shared) * rng.standard_t(6, (1200, members)) / np.sqrt(1.5))
    people = truth[:, None] + 1.5 * rng.standard_normal((1200, 3))
    return truth[:, None] + errors, people, cluster


@pytest.mark.parametrize(("shared", "members"), [(0.0, 5), (0.5, 5), (0.3, 10)])
def test_the_number_is_that_of_the_design_effect(shared: float, members: int) -> None:
    expected = members / (1 + (members - 1) * shared)
    judges, people, cluster = _panel(shared, members, 1)
    found = effective_judges(judges, people.mean(axis=1), noise_of_means(people), cluster)
    assert found.low is not None
    assert found.high is not None
    assert found.value == pytest.approx(expected, rel=0.15)
    assert found.low <= expected <= found.high


def test_peoples_noise_is_no_error_that_judges_share() -> None:
    judges, people, cluster = _panel(0.0, 5, 2)
    noise = noise_of_means(people)
    assert noise == pytest.approx(1.5**2 / 3, rel=0.1)
    with_noise = effective_judges(judges, people.mean(axis=1), 0.0, cluster).value
    without = effective_judges(judges, people.mean(axis=1), noise, cluster).value
    assert with_noise is not None
    assert without is not None
    assert with_noise < without


def test_undefined_says_why() -> None:
    judges, people, cluster = _panel(0.2, 3, 3)
    mean = people.mean(axis=1)
    assert "single" in str(effective_judges(judges[:, :1], mean, 0.0, cluster).reason)
    assert "noise" in str(effective_judges(judges, mean, 1e6, cluster).reason)
    assert "the same rating" in str(effective_judges(np.ones_like(judges), mean, 0.0, cluster).reason)
