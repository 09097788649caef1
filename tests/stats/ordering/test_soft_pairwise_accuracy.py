"""SPA: Thompson et al.'s program on HANNA, exact p values on small data, ties, missing ratings, order of systems."""

from __future__ import annotations

import csv
import itertools
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest

from judge.stats.ordering import soft_pairwise_accuracy as module
from judge.stats.ordering.soft_pairwise_accuracy import by_chance, sign_flips, soft_pairwise_accuracy

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "mt_metrics_eval.json").read_text(encoding="utf-8"))


def every_flip(n: int) -> np.ndarray:
    """All 2^n sign vectors: the permutation distribution itself."""
    return np.array(list(itertools.product([-1, 1], repeat=n)), dtype=np.int8)


def grid(systems: int, prompts: int) -> tuple[np.ndarray, np.ndarray]:
    return np.repeat(np.arange(systems), prompts), np.tile(np.arange(prompts), systems)


@pytest.mark.parametrize(
    "cell", GOLDEN["cells"], ids=lambda c: f"{c['judge']}-{c['criterion']}-{c['people_in_steps_of']}"
)
def test_hanna_as_the_authors_program_computes_it(studies: Path, cell: dict) -> None:
    csv.field_size_limit(sys.maxsize)
    with (studies / "hanna" / "hanna_metric_scores_llm.csv").open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["Model"] != "Human"]
    short = {"Relevance": "RE", "Complexity": "CX"}[cell["criterion"]]
    people = np.array([json.loads(row[cell["criterion"]]) for row in rows])
    if cell["people_in_steps_of"]:
        people = np.round(people / cell["people_in_steps_of"])
    judge = np.array([json.loads(row[f"{cell['judge']} {short} 1"]) for row in rows])
    flips = sign_flips(96, 4000, np.random.default_rng(3))
    found = soft_pairwise_accuracy(judge.ravel(), people.ravel(), *grid(10, 96), flips)
    # Each draws its own permutations, 20,000 and 4,000; theirs count ties with the observed sum wholly, ours half.
    assert found.estimate.value == pytest.approx(cell["spa"], abs=0.01)
    assert (found.estimate.n, found.estimate.method) == (45, "4000 permutations")


def test_p_values_are_exact_over_all_permutations() -> None:
    rng = np.random.default_rng(0)
    people, judge = rng.normal(size=(2, 2, 6))
    system, prompt = grid(2, 6)
    found = soft_pairwise_accuracy(judge.ravel(), people.ravel(), system, prompt, every_flip(6))
    for side, p in ((people, found.people), (judge, found.judge)):
        d = side[0] - side[1]
        sums = [sum(s * v for s, v in zip(signs, d, strict=True)) for signs in itertools.product([-1, 1], repeat=6)]
        reached = np.mean([total > d.sum() + 1e-9 for total in sums])
        same = np.mean([abs(total - d.sum()) <= 1e-9 for total in sums])
        assert p[0, 1] == pytest.approx(reached + same / 2)
        assert p[1, 0] == pytest.approx(1 - p[0, 1])
    assert found.estimate.value == pytest.approx(1 - abs(found.people[0, 1] - found.judge[0, 1]))


def test_the_order_of_systems_does_not_matter_even_for_a_constant_judge() -> None:
    rng = np.random.default_rng(1)
    people = np.sort(rng.integers(1, 6, (4, 10)), axis=0).astype(float)  # systems from bad to good
    system, prompt = grid(4, 10)
    constant = np.full(40, 3.0)
    flips = every_flip(10)
    forward = soft_pairwise_accuracy(constant, people.ravel(), system, prompt, flips)
    backward = soft_pairwise_accuracy(constant, people[::-1].ravel(), system, prompt, flips)
    assert forward.estimate.value == pytest.approx(backward.estimate.value, abs=1e-12)
    assert np.allclose(forward.judge[~np.eye(4, dtype=bool)], 0.5)
    assert forward.estimate.value < 0.75


def test_a_judge_that_repeats_people_has_spa_1() -> None:
    rng = np.random.default_rng(2)
    people = rng.integers(1, 6, 50).astype(float)
    found = soft_pairwise_accuracy(people, people, *grid(5, 10), sign_flips(10, 200, rng))
    assert found.estimate.value == 1.0


def test_missing_ratings_leave_the_story_prompt_out_on_both_sides() -> None:
    rng = np.random.default_rng(4)
    system, prompt = grid(2, 8)
    people, judge = rng.normal(size=(2, 16))
    gone = judge.copy()
    gone[3] = np.nan  # system 0, story-prompt 3
    found = soft_pairwise_accuracy(gone, people, system, prompt, every_flip(8))
    keep = prompt != 3
    rest = np.unique(prompt[keep], return_inverse=True)[1]
    expected = soft_pairwise_accuracy(judge[keep], people[keep], system[keep], rest, every_flip(7))
    assert found.estimate.value == pytest.approx(expected.estimate.value, abs=1e-12)
    assert found.shared[0, 1] == 7


def test_pairs_without_a_shared_story_prompt_are_left_out() -> None:
    system, prompt = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 0, 1, 2, 3])
    rng = np.random.default_rng(5)
    people, judge = rng.normal(size=(2, 6))
    found = soft_pairwise_accuracy(judge, people, system, prompt, every_flip(4))
    assert found.estimate.n == 1
    assert np.isnan(found.judge[0, 2])
    apart = soft_pairwise_accuracy(judge, people, system, np.arange(6), every_flip(6))
    assert apart.estimate.reason == "undefined with no two systems that share a story-prompt"
    alone = soft_pairwise_accuracy(judge, people, np.zeros(6, dtype=int), prompt, every_flip(4))
    assert alone.estimate.reason == "undefined with fewer than 2 systems"


def test_one_set_of_permutations_gives_one_answer() -> None:
    rng = np.random.default_rng(6)
    people, judge = rng.normal(size=(2, 60))
    values = {
        soft_pairwise_accuracy(
            judge, people, *grid(3, 20), sign_flips(20, 300, np.random.default_rng(9))
        ).estimate.value
        for _ in range(2)
    }
    assert len(values) == 1


def test_chance_is_the_mean_over_every_dealing_within_story_prompts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    people, judge = rng.normal(size=(2, 3, 4))
    judge[2, 1] = np.nan  # in story-prompt 1 the other two systems' ratings are dealt to those two
    system, prompt = grid(3, 4)
    flips = every_flip(4)
    orders = [list(itertools.permutations(range(2 if p == 1 else 3))) for p in range(4)]
    values = []
    for dealing in itertools.product(*orders):
        dealt = judge.copy()
        for p, order in enumerate(dealing):
            dealt[: len(order), p] = judge[list(order), p]
        values.append(soft_pairwise_accuracy(dealt.ravel(), people.ravel(), system, prompt, flips).estimate.value)
    assert len(values) == 6 * 2 * 6 * 6
    monkeypatch.setattr(module, "DEALT", 4000)
    found = by_chance(judge.ravel(), people.ravel(), system, prompt, flips, rng)
    assert found.estimate.value == pytest.approx(np.mean(values), abs=4 * np.std(values) / np.sqrt(4000))
    assert found.estimate.n == 3
    assert found.high >= np.quantile(values, 0.93)


def test_a_judge_of_one_rating_gets_what_it_gets_by_chance() -> None:
    rng = np.random.default_rng(8)
    people = rng.integers(1, 6, 60).astype(float)
    flips = sign_flips(12, 500, rng)
    found = by_chance(np.full(60, 3.0), people, *grid(5, 12), flips, rng)
    spa = soft_pairwise_accuracy(np.full(60, 3.0), people, *grid(5, 12), flips).estimate.value
    assert (found.estimate.value, found.high) == pytest.approx((spa, spa), abs=1e-12)


def test_noise_and_opinions_of_systems_lie_above_95_percent_of_dealings_no_more_than_by_luck() -> None:
    above, values, means = {"noise": 0, "opinions": 0}, [], []
    for seed in range(80):
        rng = np.random.default_rng(seed)
        system, prompt = grid(5, 10)
        people = rng.normal(0, 0.5, 5)[system] + rng.normal(size=50)
        judges = {"noise": rng.normal(size=50), "opinions": rng.normal(0, 1.0, 5)[system] + rng.normal(size=50)}
        flips = sign_flips(10, 200, rng)
        for name, judge in judges.items():
            spa = soft_pairwise_accuracy(judge, people, system, prompt, flips).estimate.value
            chance = by_chance(judge, people, system, prompt, flips, rng)
            above[name] += spa > chance.high
            if name == "noise":
                values.append(spa)
                means.append(chance.estimate.value)
    for count in above.values():
        assert binomtest(count, 80, 0.05, alternative="greater").pvalue > 0.01
    assert np.mean(values) == pytest.approx(np.mean(means), abs=4 * np.std(values) / np.sqrt(80))
    assert np.mean(means) > 0.55


def test_chance_is_undefined_where_spa_is() -> None:
    rng = np.random.default_rng(9)
    people, judge = rng.normal(size=(2, 6))
    found = by_chance(judge, people, np.array([0, 0, 1, 1, 2, 2]), np.arange(6), every_flip(6), rng)
    assert found.estimate.reason == "undefined with no two systems that share a story-prompt"
    assert found.high is None
