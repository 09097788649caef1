"""The alternative annotator test: its authors' program on HANNA, refusals, limits, and a judge that is a person."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest, ttest_1samp

from judge.stats.agreement.alt_test import alt_test

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "alternative_annotator.json").read_text(encoding="utf-8"))


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


def test_with_one_story_a_cluster_the_published_test_is_made() -> None:
    truth, ratings = people()
    ratings[40:, 2] = np.nan
    found = alt_test(truth, ratings, epsilon=0.1, cluster=np.arange(60)[::-1])
    assert [p.clustered_p for p in found.people] == pytest.approx([p.p for p in found.people], rel=1e-9)
    assert [p.clustered_adjusted for p in found.people] == pytest.approx([p.adjusted for p in found.people], rel=1e-9)
    assert [p.clusters for p in found.people] == [60, 60, 40, 60]
    assert (found.clustered_rate, found.clustered_passed) == (found.winning_rate, found.passed)
    assert found.clustered_p == pytest.approx(found.p)
    plain = alt_test(truth, ratings, epsilon=0.1)
    assert plain.people[0].clustered_p is plain.clustered_p is plain.clustered_passed is None
    assert [p.p for p in plain.people] == [p.p for p in found.people]


def test_the_clustered_p_is_that_of_a_t_test_on_equal_clusters_means() -> None:
    # With clusters of one size the cluster-robust error of the mean is that of the clusters' means.
    truth, ratings = people()
    cluster = np.arange(60) % 12
    found = alt_test(truth, ratings, epsilon=0.1, cluster=cluster)
    others = np.delete(ratings, 1, axis=1)
    by_judge, by_person = (((side[:, None] - others) ** 2).mean(axis=1) for side in (truth, ratings[:, 1]))
    d = (by_person <= by_judge + 1e-9).astype(float) - (by_judge <= by_person + 1e-9)
    means = np.bincount(cluster, weights=d) / 5
    assert found.people[1].clustered_p == pytest.approx(ttest_1samp(means, 0.1, alternative="less").pvalue, rel=1e-9)


def test_the_level_at_which_a_judge_passes_is_that_of_half_of_the_people() -> None:
    truth, ratings = people(noise=1.2)
    worse = truth + np.random.default_rng(3).normal(0, 0.9, 60)
    found = alt_test(worse, ratings, epsilon=0.0, cluster=np.arange(60) % 20)
    assert found.p == sorted(p.adjusted for p in found.people)[1]
    assert found.clustered_p == sorted(p.clustered_adjusted for p in found.people)[1]
    assert found.passed == (found.p <= 0.05)
    refused = alt_test(worse, ratings[:, :1], epsilon=0.0, cluster=np.arange(60))
    assert refused.p is refused.clustered_p is refused.clustered_passed is None
    assert refused.clustered_rate.reason == refused.winning_rate.reason


def test_one_story_prompt_has_no_clustered_p() -> None:
    truth, ratings = people()
    found = alt_test(truth, ratings, epsilon=0.1, cluster=np.zeros(60, dtype=int))
    assert found.passed
    assert found.clustered_p is found.clustered_passed is found.people[0].clustered_won is None
    assert found.clustered_rate.reason == "undefined where a person rated stories for one story-prompt only"


def test_a_judge_that_misses_some_story_prompts_is_not_passed_by_luck() -> None:
    def study(prompts: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        cluster = np.repeat(np.arange(prompts), 20)
        truth = rng.normal(size=cluster.size)
        missed = 1.5 * rng.standard_exponential(prompts)[cluster]
        ratings = truth[:, None] + 0.8 * rng.normal(size=(cluster.size, 3))
        return truth + missed + 0.8 * rng.normal(size=cluster.size), ratings, cluster

    judge, ratings, cluster = study(4000, np.random.default_rng(0))
    known = alt_test(judge, ratings, epsilon=0.0).people
    epsilon = float(np.mean([p.person_closer - p.judge_closer for p in known]))
    beaten = {"published": 0, "by story-prompt": 0}
    for seed in range(200):
        judge, ratings, cluster = study(20, np.random.default_rng(seed + 1))
        person = alt_test(judge, ratings, epsilon=epsilon, cluster=cluster).people[seed % 3]
        beaten["published"] += person.p <= 0.05
        beaten["by story-prompt"] += person.clustered_p <= 0.05
    assert binomtest(beaten["by story-prompt"], 200, 0.05, alternative="greater").pvalue > 0.01
    assert binomtest(beaten["published"], 200, 0.05, alternative="greater").pvalue < 1e-6


def test_epsilon_is_a_share() -> None:
    with pytest.raises(ValueError, match="must lie between 0 and 1"):
        alt_test(np.zeros(3), np.zeros((3, 2)), epsilon=1.5)
