"""Story-prompts for the alternative annotator test: what is promised comes true in the test itself."""

from __future__ import annotations

import numpy as np
import pytest

from judge.stats.agreement.alt_test import MIN_STORIES, alt_test, person_differences
from judge.stats.agreement.replacement_power import Differences, Moments, differences, needed, power, story_prompts
from tests.stats.estimation.clustered_studies import Study, simulate

EPSILON = 0.1


def _study(rng: np.random.Generator, story_prompts: int) -> Study:
    return simulate(rng, story_prompts, people=4, noise=(1.05,), person_noise=1.0)


def _differences(study: Study) -> Differences:
    return differences(person_differences(study.judges[0].mean(axis=1), study.people), study.story_prompt)


def test_differences_are_those_of_the_test() -> None:
    study = _study(np.random.default_rng(1), 40)
    d = person_differences(study.judges[0][:, 0], study.people)
    test = alt_test(study.judges[0][:, 0], study.people, epsilon=EPSILON)
    expected = [person.person_closer - person.judge_closer for person in test.people]
    assert np.allclose(np.nanmean(d, axis=0), expected)
    assert np.allclose(
        _differences(study).moments().mean,
        np.nanmean(person_differences(study.judges[0].mean(axis=1), study.people), axis=0),
    )


def test_the_promised_power_comes_within_a_tenth() -> None:
    rng = np.random.default_rng(8)
    planned = [needed(_differences(_study(rng, 400)).moments(), EPSILON, 0.8) for _ in range(5)]
    number = round(float(np.mean([one for one in planned if one is not None])))
    passed = []
    for _ in range(400):
        study = _study(rng, number)
        test = alt_test(study.judges[0].mean(axis=1), study.people, epsilon=EPSILON, cluster=study.story_prompt)
        passed.append(bool(test.clustered_passed))
    assert 20 <= number <= 2000
    assert np.mean(passed) == pytest.approx(0.8, rel=0.1)


def test_a_judge_further_from_the_others_than_people_never_passes() -> None:
    found = Moments(np.array([0.3, 0.25, 0.05]), np.eye(3), 5.0)
    assert needed(found, EPSILON, 0.8) is None


def test_everybody_needs_thirty_stories() -> None:
    found = Moments(np.full(3, -0.5), 0.01 * np.eye(3), 1.0)
    assert needed(found, EPSILON, 0.8) == MIN_STORIES


def test_power_grows_with_story_prompts_and_the_range_is_around_the_number() -> None:
    found = _differences(_study(np.random.default_rng(2), 60))
    moments = found.moments()
    assert power(moments, 20, EPSILON) < power(moments, 200, EPSILON)
    told = story_prompts(found, EPSILON)
    assert told.value is not None
    assert told.low is not None
    assert told.low <= told.value <= (told.high or np.inf)
