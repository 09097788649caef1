"""Prediction-powered means: the authors' package, coverage in simulation, and judges that say nothing."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from judge.stats.estimation.means import powered_mean

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "prediction_powered.json").read_text(encoding="utf-8"))


def joined(case: dict) -> tuple[np.ndarray, np.ndarray]:
    people = np.array(case["people"] + [np.nan] * len(case["judge_only"]))
    return people, np.array(case["both"] + case["judge_only"])


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda c: f"{len(c['both'])}+{len(c['judge_only'])}")
@pytest.mark.parametrize(("name", "power"), [("tuned", None), ("one", 1.0), ("zero", 0.0)])
def test_means_and_intervals_of_ppi_python(case: dict, name: str, power: float | None) -> None:
    people, judge = joined(case)
    found = powered_mean(people, judge, power=power).estimate
    assert [found.value, found.low, found.high] == pytest.approx(case[name], abs=1e-9)
    assert found.n == len(case["both"])


def test_the_plain_mean_stands_beside_it() -> None:
    case = GOLDEN["cases"][0]
    people, judge = joined(case)
    found = powered_mean(people, judge)
    assert [found.people.value, found.people.low, found.people.high] == pytest.approx(case["zero"], abs=1e-9)
    assert found.judge == pytest.approx(judge.mean())
    assert (found.both, found.judge_only) == (40, 160)
    plain, tuned = (case[k][2] - case[k][1] for k in ("zero", "tuned"))
    assert found.worth == pytest.approx((plain / tuned) ** 2)


@pytest.mark.parametrize("slope", [1.0, 0.0, -1.0])
def test_95_percent_intervals_cover_whatever_the_judge(slope: float) -> None:
    rng = np.random.default_rng(3)
    covered, tries = 0, 1000
    for _ in range(tries):
        truth = rng.normal(3, 1, 300)
        judge = slope * truth + 7 + rng.normal(0, 0.5, 300)  # biased by far
        found = powered_mean(np.where(np.arange(300) < 60, truth, np.nan), judge).estimate
        covered += found.low <= 3 <= found.high
    assert 0.925 < covered / tries < 0.97  # se .007; normal quantiles at n = 60 cost about one point


def test_a_good_judge_narrows_and_a_bad_one_does_no_harm() -> None:
    rng = np.random.default_rng(4)
    truth = rng.normal(3, 1, 500)
    people = np.where(np.arange(500) < 50, truth, np.nan)
    good = powered_mean(people, truth + rng.normal(0, 0.2, 500))
    assert good.worth > 4
    noise = powered_mean(people, rng.normal(size=500))
    assert noise.power < 0.3
    assert noise.worth > 0.9


def test_a_constant_judge_leaves_the_plain_mean() -> None:
    people = np.array([1.0, 2.0, 4.0, np.nan, np.nan])
    found = powered_mean(people, np.full(5, 3.0))
    assert (found.power, found.estimate.value) == (0.0, pytest.approx(7 / 3))
    assert found.estimate.low == pytest.approx(found.people.low)


@pytest.mark.parametrize(
    ("people", "judge", "reason"),
    [
        ([1.0, np.nan, np.nan], [1.0, 2.0, 3.0], "undefined with fewer than 2 stories rated by both"),
        ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], "undefined with fewer than 2 stories rated by the judge only"),
    ],
)
def test_too_few_stories(people: list[float], judge: list[float], reason: str) -> None:
    found = powered_mean(np.array(people), np.array(judge))
    assert (found.estimate.reason, found.worth) == (reason, None)


def test_a_story_without_the_judge_counts_with_the_mean_of_its_other_ratings() -> None:
    people = np.array([1.0, 2.0, 4.0, 5.0, np.nan, np.nan, np.nan])
    judge = np.array([1.5, 2.5, 3.5, np.nan, 2.0, 3.0, np.nan])
    found = powered_mean(people, judge)
    assert (found.both, found.judge_only, found.lost, found.estimate.n) == (3, 2, 2, 4)
    assert found.people.value == pytest.approx(3.0)
    filled = np.where(np.isnan(judge), 2.5, judge)
    assert found.estimate == powered_mean(people, filled).estimate


def test_a_judge_that_declines_bad_stories_biases_neither_mean() -> None:
    rng = np.random.default_rng(5)
    covered = {"people": 0, "powered": 0}
    tries = 400
    for _ in range(tries):
        truth = rng.normal(3, 1, 300)
        judge = np.where(truth + rng.normal(0, 0.5, 300) < 2.7, np.nan, truth + rng.normal(0, 0.5, 300))
        found = powered_mean(np.where(np.arange(300) < 80, truth, np.nan), judge)
        covered["people"] += found.people.low <= 3 <= found.people.high
        covered["powered"] += found.estimate.low <= 3 <= found.estimate.high
    # Without the stories that it declined both cover in 0 %.
    assert min(covered.values()) / tries > 0.91


def test_few_human_ratings_have_students_interval() -> None:
    people = np.array([1.0, 2.0, 4.0, 5.0, 5.0, np.nan, np.nan])
    judge = np.array([1.5, 2.5, 3.5, 4.0, 4.0, 2.0, 3.0])
    found = powered_mean(people, judge, small_sample=True).people
    known = people[:5]
    half = 2.7764451051977987 * known.std(ddof=1) / np.sqrt(5)  # t(4), .975
    assert (found.low, found.high) == pytest.approx((3.4 - half, 3.4 + half))
    assert found.method == "t, 95 %"
