"""Correlations that are computed together are those that are computed one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from judge.analysis.correlation import Correlations, correlations, statistic
from judge.analysis.correlation.margins import by_criterion, margins
from judge.analysis.correlation.statistic import Known
from judge.analysis.inputs.control import Control
from judge.analysis.options.table_options import CorrelationOptions, from_words
from judge.ratings.ratings_table import RatingsTable
from tests.benchmarks.simulations.bounded_raters import BoundedRaters, Judges
from tests.benchmarks.simulations.worlds import World


def _table(*, people: int = 3, pool: bool = False, lost: float = 0.2) -> RatingsTable:
    """Three criteria; one judge that loses ratings, one that says the same everywhere on one criterion."""
    raters = BoundedRaters(World(systems=5, story_prompts=7, people=people, criteria=3), np.random.default_rng(3))
    study = raters.study()
    if pool:
        study = replace(study, people=np.where(raters.rng.random(study.people.shape) < 0.5, study.people, np.nan))
    judge, other = Judges(raters, study).one_more(), raters.rng.integers(1, 6, (3, study.n)).astype(float)
    judge = np.where(raters.rng.random(judge.shape) < lost, np.nan, judge)
    other[1] = 3 if lost else other[1]
    return study.with_judges(judge=judge, other=other).table(texts=True)


def _correlated(table: RatingsTable, options: CorrelationOptions) -> Correlations:
    return correlations(table, options, Control(), paired=True)


@pytest.mark.parametrize(
    ("pool", "words"),
    [
        (False, {"level": "overall"}),
        (True, {"level": "overall"}),
        (True, {"level": "system"}),
        (False, {"level": "overall", "readings": "single", "interval_kind": "bca"}),
        (True, {"level": "overall", "ci": "boot-both"}),
        (False, {"level": "by-system"}),
        (False, {"level": "overall", "coefficient": "pearson", "given": "length"}),
    ],
    ids=str,
)
def test_the_same_numbers_come_of_one_pair_at_a_time(
    pool: bool, words: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = _table(people=6 if pool else 3, pool=pool)
    options = from_words(CorrelationOptions, resamples=12, **words)
    together = _correlated(table, options)
    monkeypatch.setattr(statistic, "FEW_STORIES", 0)
    alone = _correlated(table, options)
    pd.testing.assert_frame_equal(together.frame, alone.frame, check_exact=True)
    for mine, theirs in zip(together.datasets[0].rows, alone.datasets[0].rows, strict=True):
        for a, b in zip(mine.resampled, theirs.resampled, strict=True):
            np.testing.assert_array_equal(a, b)
    assert list(map(repr, margins(together))) == list(map(repr, margins(alone)))
    assert list(map(repr, by_criterion(together))) == list(map(repr, by_criterion(alone)))


@pytest.mark.parametrize("level", ["overall", "system"])
def test_all_is_known_before_it_is_asked_for(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []

    def seen(how: Callable[..., Any]) -> Callable[..., Any]:
        def ask(*words: Any) -> Any:
            answer = how(*words)
            asked.append(answer is not None)
            return answer

        return ask

    monkeypatch.setattr(Known, "resampled", seen(Known.resampled))
    monkeypatch.setattr(Known, "estimate", seen(Known.estimate))
    _correlated(_table(lost=0.0), from_words(CorrelationOptions, level=level, resamples=20))
    assert len(asked) > 40
    assert sum(not known for known in asked) == 0


def test_what_is_undefined_stays_unknown() -> None:
    known, rng = Known(), np.random.default_rng(1)
    y = rng.normal(size=6)
    two, equal, three = np.where(np.arange(6) < 2, y, np.nan), np.full(6, 2.0), np.where(np.arange(6) < 3, y, np.nan)
    known.learn([(two, y), (y, two), (equal, y), (three, y), (np.full(6, np.nan), y)], None)
    assert [known.estimate(*pair) is None for pair in ((two, y), (y, two), (equal, y), (three, y))] == [True] * 3 + [
        False
    ]
    found = known.estimate(three, y)
    assert found is not None
    assert (found.value, found.n) == (1.0, 3)
    known.learn([], None)
    assert known.estimate(three, y) is None


def test_a_mean_of_one_story_counts() -> None:
    known, group = Known(), np.array([0, 1, 1, 2])
    x, y = np.array([1.0, 2.0, 3.0, 4.0]), np.array([5.0, 1.0, 2.0, np.nan])
    known.learn([(x, y), (x, np.array([5.0, 1.0, 2.0, 0.0]))], group)
    assert known.estimate(x, y) is None
    found = known.estimate(x, np.array([5.0, 1.0, 2.0, 0.0]))
    assert found is not None
    assert (found.value, found.n) == (-1.0, 3)
