"""The alternative annotator test: its authors' program on HANNA, refusals, limits, and a judge that is a person."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from judge.stats.alt_test import alt_test

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "alternative_annotator.json").read_text(encoding="utf-8"))


def people(n: int = 60, raters: int = 4, noise: float = 0.8, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """True quality and ratings of persons."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(3, 0.8, n)
    return truth, np.clip(np.round(truth[:, None] + rng.normal(0, noise, (n, raters))), 1, 5)


@pytest.mark.parametrize("cell", GOLDEN["cells"], ids=lambda c: f"{c['judge']}-{c['criterion']}-{c['measure']}")
def test_hanna_as_the_authors_notebook_computes_it(studies: Path, cell: dict) -> None:
    csv.field_size_limit(sys.maxsize)
    with (studies / "hanna" / "hanna_metric_scores_llm.csv").open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["Model"] != "Human"]
    short = cell["criterion"]
    judge = np.concatenate([json.loads(row[f"{cell['judge']} {short} 1"]) for row in rows])
    given = np.array([np.concatenate([json.loads(row[f"Human {i} {short}"]) for row in rows]) for i in (1, 2, 3)]).T
    ratings = given.astype(float)
    if cell["sparse"]:
        ratings[np.arange(960), np.arange(960) % 3] = np.nan
    measure = {"neg_rmse": "rmse", "accuracy": "exact"}[cell["measure"]]
    judge = np.round(np.round(judge, 9)) if measure == "exact" else judge
    found = alt_test(judge, ratings, epsilon=cell["epsilon"], measure=measure)
    assert found.winning_rate.value == pytest.approx(cell["rate"])
    assert found.advantage.value == pytest.approx(cell["rho"], abs=1e-12)
    assert [p.judge_closer for p in found.people] == pytest.approx(cell["advantages"], abs=1e-12)
    assert [p.p for p in found.people] == pytest.approx(cell["p"], rel=1e-9)


def test_p_is_scipys_one_sided_t_test_and_by_adjusts_it() -> None:
    truth, ratings = people()
    found = alt_test(truth, ratings, epsilon=0.1)
    person = found.people[2]
    others = np.delete(ratings, 2, axis=1)
    by_judge = np.sqrt(((truth[:, None] - others) ** 2).mean(axis=1))
    by_person = np.sqrt(((ratings[:, [2]] - others) ** 2).mean(axis=1))
    d = (by_person <= by_judge).astype(float) - (by_judge <= by_person)
    assert person.p == pytest.approx(ttest_1samp(d, 0.1, alternative="less").pvalue, rel=1e-9)
    harmonic = 1 + 1 / 2 + 1 / 3 + 1 / 4
    largest = max(p.p for p in found.people)
    assert max(p.adjusted for p in found.people) == pytest.approx(min(1.0, largest * harmonic))
    assert found.passed
    assert found.winning_rate.n == 4


def test_a_judge_of_noise_does_not_pass() -> None:
    _, ratings = people(noise=0.4)
    found = alt_test(np.random.default_rng(1).uniform(1, 5, 60), ratings, epsilon=0.2)
    assert (found.winning_rate.value, found.passed) == (0.0, False)
    assert found.advantage.value < 0.4


def test_a_smooth_judge_passes_where_people_do_not_agree() -> None:
    # The trap of which the module warns: a judge that always says 3 wins against people who rate at random.
    ratings = np.random.default_rng(2).integers(1, 6, (200, 3)).astype(float)
    assert alt_test(np.full(200, 3.0), ratings, epsilon=0.0).passed


@pytest.mark.parametrize(
    ("ratings", "counted"),
    [
        (np.full((60, 1), 3.0), "0 of 1"),
        (people(29)[1], "0 of 4"),
        (np.where(np.arange(60)[:, None] < [60, 20], people(60, 2)[1], np.nan), "0 of 2"),
    ],
)
def test_too_few_people_or_stories_are_refused(ratings: np.ndarray, counted: str) -> None:
    found = alt_test(np.full(len(ratings), 3.0), ratings, epsilon=0.1)
    assert found.winning_rate.reason == (
        f"refused: the alt-test needs 2 people with 30 stories each that another person rated too; {counted} have them"
    )
    assert (found.passed, found.people) == (None, ())


def test_people_with_few_stories_are_left_out_but_still_count_as_others() -> None:
    truth, ratings = people()
    ratings[10:, 3] = np.nan
    found = alt_test(truth, ratings, epsilon=0.1)
    assert ([p.column for p in found.people], found.too_few) == ([0, 1, 2], 1)
    without = alt_test(truth, ratings[:, :3], epsilon=0.1)
    assert found.people[0].judge_closer != without.people[0].judge_closer


def test_stories_without_the_judge_or_a_second_person_are_left_out() -> None:
    truth, ratings = people(80, 3)
    truth[:20] = np.nan
    ratings[20:30, 1:] = np.nan
    found = alt_test(truth, ratings, epsilon=0.1)
    assert [p.stories for p in found.people] == [50, 50, 50]


def test_equal_differences_have_the_limit_of_p() -> None:
    ratings = np.full((40, 3), 4.0)
    equal = alt_test(np.full(40, 4.0), ratings, epsilon=0.1)
    assert [p.p for p in equal.people] == [0.0, 0.0, 0.0]
    worse = alt_test(np.full(40, 1.0), ratings, epsilon=0.1)
    assert [p.p for p in worse.people] == [1.0, 1.0, 1.0]
    assert [p.p for p in alt_test(np.full(40, 4.0), ratings, epsilon=0.0).people] == [1.0] * 3


def test_epsilon_is_a_share() -> None:
    with pytest.raises(ValueError, match="must lie between 0 and 1"):
        alt_test(np.zeros(3), np.zeros((3, 2)), epsilon=1.5)
