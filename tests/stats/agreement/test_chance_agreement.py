"""AC1, AC2 and Fleiss' kappa: against irrCAC, statsmodels and published values; their edges."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from judge.stats.agreement import chance_agreement as ca

# irrCAC 0.4.4: golden/irr_cac.py.
IRR_CAC = json.loads((Path(__file__).parents[2] / "golden" / "irr_cac.json").read_text(encoding="utf-8"))
COEFFICIENTS = {"gwet": ca.gwet, "fleiss": ca.fleiss}


def user_study(studies: Path) -> dict[str, np.ndarray]:
    """Answers by question, (100 explanations, 3 positions), as the file has them."""
    with (studies / "hanna" / "user_study.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 300
    questions = [name for name in rows[0] if name.startswith("Answer.")]
    answers = {name: np.array([float(row[name]) for row in rows]) for name in questions}
    return {name: np.stack([a[0::3], a[1::3], a[2::3]], axis=1) for name, a in answers.items()}


def check(found: ca.ChanceAgreement, theirs: dict[str, float]) -> None:
    estimate = found.estimate
    assert estimate.value == pytest.approx(theirs["value"], abs=1e-11)
    assert (found.observed, found.expected) == pytest.approx((theirs["observed"], theirs["expected"]), abs=1e-11)
    assert found.standard_error == pytest.approx(theirs["se"], abs=1e-11)
    # irrCAC cuts the upper end only. Its scipy (1.12) has t quantiles that are off by 1e-8: R's qt agrees with ours.
    assert (estimate.low, estimate.high) == pytest.approx((max(-1, theirs["low"]), theirs["high"]), abs=1e-8)


@pytest.mark.parametrize("weights", ca.WEIGHTINGS)
@pytest.mark.parametrize("case", IRR_CAC["tables"], ids=lambda case: f"{len(case['ratings'])}-{case['categories']}")
def test_random_tables_equal_irr_cac(case: dict, weights: str) -> None:
    ratings = np.array(case["ratings"], dtype=float)
    categories = None if case["categories"] is None else np.array(case["categories"], dtype=float)
    for name, coefficient in COEFFICIENTS.items():
        found = coefficient(ratings, weights, categories=categories)
        check(found, case["coefficients"][weights][name])
        assert found.dropped == (np.isnan(ratings).sum(axis=1) > ratings.shape[1] - 2).sum()
        assert found.estimate.n == len(ratings) - found.dropped


def test_user_study_equals_irr_cac(studies: Path) -> None:
    answers = user_study(studies)
    assert len(IRR_CAC["user_study"]) == 5
    for question, theirs in IRR_CAC["user_study"].items():
        for name, coefficient in COEFFICIENTS.items():
            found = coefficient(answers[question])
            check(found, theirs[name])
            assert found.raw.value == pytest.approx(found.observed)


# Chhun, Suchanek & Clavel 2024 (TACL), user study: AC1 and its half-width, which is the rounded upper end of the 95 %
# interval minus the rounded coefficient.
@pytest.mark.parametrize(
    ("question", "ac1", "half"),
    [
        ("Answer.a-2-syntax.1", 0.97, 0.03),
        ("Answer.a-6-incoherence.1", 0.81, 0.08),
        ("Answer.a-1-guidelines.1", 0.90, 0.06),
        ("Answer.a-3-superfluous.1", 0.66, 0.12),
        ("Answer.a-5-unsubstantiated.1", 0.60, 0.14),
    ],
)
def test_the_published_ac1_are_regenerated(studies: Path, question: str, ac1: float, half: float) -> None:
    answers = user_study(studies)[question]
    found = ca.gwet(answers).estimate
    assert round(found.value, 2) == ac1
    assert round(round(found.high, 2) - round(found.value, 2), 2) == half
    # Which answer means an error is no matter.
    assert ca.gwet(1 - answers).estimate.value == pytest.approx(found.value)


def test_one_category_is_agreement_without_a_coefficient(studies: Path) -> None:
    answers = user_study(studies)["Answer.a-4-incorrectness.1"]
    both = np.array([0.0, 1.0])
    for name, coefficient in COEFFICIENTS.items():
        for categories in (None, both):
            found = coefficient(answers, categories=categories)
            if categories is both and coefficient is ca.gwet:
                # Gwet 2008: with two categories the expected agreement is 2 x share (1 - share), here 0.
                assert (found.estimate.value, found.expected, found.estimate.low) == (1.0, 0.0, None), name
                assert "no interval" in str(found.estimate.reason)
                continue
            assert (found.estimate.value, found.estimate.reason) == (None, "undefined: 1 category")
            assert (found.raw.value, found.raw.n, found.raw.high) == (1.0, 100, 1.0)
            # Wilson 1927 for 100 of 100.
            assert round(found.raw.low, 4) == 0.9630
            assert (found.categories, found.ratings, found.standard_error) == (1, 300, None)


def test_prevalence_paradox() -> None:
    # 96 of 100 items unanimous, the rest split: the same raw agreement, whatever the shares of the categories.
    rare = np.zeros((100, 2))
    rare[:4, 0] = 1
    even = np.repeat([[0.0], [1.0]], 50, axis=0).repeat(2, axis=1)
    even[:4, 0] = 1
    assert ca.raw_agreement(rare).value == ca.raw_agreement(even).value == 0.96
    assert ca.fleiss(rare).estimate.value < 0 < 0.9 < ca.gwet(rare).estimate.value
    assert ca.fleiss(even).estimate.value == pytest.approx(ca.gwet(even).estimate.value, abs=0.01)


def test_fleiss_published_example() -> None:
    # Fleiss 1971, Psychological Bulletin 76, table 1: 30 patients, 6 raters, 5 diagnoses; kappa = .430.
    patients = (
        "00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 "
        "10050 11040 03300 10050 02031 00501 30012 51000 02040 10203 "
        "00006 01050 02013 20040 10041 05010 40002 02040 10500 00006"
    )
    table = np.array([[int(count) for count in patient] for patient in patients.split(" ")])
    assert (table.sum(axis=1) == 6).all()
    ratings = np.array([np.repeat(np.arange(5.0), row) for row in table])
    found = ca.fleiss(ratings)
    assert round(found.estimate.value, 3) == 0.430
    assert round(found.observed, 3) == 0.556


def test_items_with_one_rating_are_dropped_and_counted() -> None:
    ratings = np.array([[1.0, 1, np.nan], [2, 1, 1], [np.nan, 2, 2], [3, 3, 3]])
    more = np.vstack([ratings, [[np.nan, np.nan, 2], [np.nan] * 3]])
    for coefficient in COEFFICIENTS.values():
        full, same = coefficient(more), coefficient(ratings)
        assert full.estimate.value == pytest.approx(same.estimate.value, abs=1e-12)
        assert (full.estimate.n, full.estimate.reason) == (same.estimate.n, same.estimate.reason)
        assert (full.dropped, same.dropped, full.estimate.n, full.ratings) == (2, 0, 4, 10)


@pytest.mark.parametrize("ratings", [np.empty((0, 3)), np.full((4, 3), np.nan), np.array([[1.0], [2.0]])])
def test_without_a_pair_nothing_is_defined(ratings: np.ndarray) -> None:
    found = ca.gwet(ratings)
    assert (found.estimate.value, found.estimate.reason) == (None, "undefined: no item has 2 ratings")
    assert (found.raw.value, found.raw.reason) == (None, "undefined: no item has 2 ratings")
    assert found.dropped == len(ratings)


def test_intervals_that_do_not_exist() -> None:
    whole = ca.gwet(np.array([[1.0, 1], [2, 2], [1, 1]]))
    assert (whole.estimate.value, whole.estimate.low, whole.standard_error) == (1.0, None, None)
    assert whole.estimate.reason == "no interval: all items agree alike, the standard error is 0"
    assert whole.raw.method == "Wilson over items, 95 %"
    never = ca.raw_agreement(np.array([[1.0, 2], [2, 1]]))
    assert (never.value, never.low) == (0.0, 0.0)
    assert 0.6 < never.high < 1
    single = ca.fleiss(np.array([[1.0, 2, 2]]))
    assert (single.estimate.n, single.estimate.reason) == (1, "no interval with fewer than 2 items")
    third = ca.raw_agreement(np.array([[1.0, 1, 2], [2, 2, 1]]))
    assert (third.value, third.low) == (pytest.approx(1 / 3), None)


def test_what_cannot_be_counted() -> None:
    with pytest.raises(ValueError, match=r"the rating 6 is none of the categories \[1\.0, 2\.0"):
        ca.gwet(np.array([[1.0, 6.0]]), categories=np.arange(1.0, 6.0))
    with pytest.raises(ValueError, match="unknown weights 'cubic': one of identity, linear, quadratic, ordinal"):
        ca.gwet(np.array([[1.0, 2.0]]), "cubic")
    # Means of ratings carry noise: it makes no new category.
    assert ca.gwet(np.array([[1.0, 0.1 + 0.2], [0.3, 0.3]])).categories == 2


def test_unused_points_of_the_scale_move_ac1_alone() -> None:
    ratings = np.array([[1.0, 1], [1, 2], [2, 2], [1, 1], [2, 1]])
    scale = np.arange(1.0, 6.0)
    assert ca.gwet(ratings, categories=scale).estimate.value > ca.gwet(ratings).estimate.value
    assert ca.fleiss(ratings, categories=scale).estimate == ca.fleiss(ratings).estimate


tables = hnp.arrays(
    float, st.tuples(st.integers(2, 9), st.integers(2, 5)), elements=st.sampled_from([1.0, 2.0, 3.0, 5.0, float("nan")])
)


@settings(max_examples=60)
@given(tables, st.sampled_from(sorted(COEFFICIENTS)), st.sampled_from(ca.WEIGHTINGS), st.integers(0, 99))
def test_order_of_raters_and_items_is_no_matter(ratings: np.ndarray, name: str, weights: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    shuffled = ratings[rng.permutation(ratings.shape[0])][:, rng.permutation(ratings.shape[1])]
    one, other = (COEFFICIENTS[name](table, weights) for table in (ratings, shuffled))
    assert one.estimate.reason == other.estimate.reason
    for mine, theirs in ((one.estimate, other.estimate), (one.raw, other.raw)):
        assert [mine.value, mine.low, mine.high] == pytest.approx([theirs.value, theirs.low, theirs.high], abs=1e-9)
        if mine.low is not None:
            assert mine.low <= mine.value + 1e-12
            assert mine.value <= mine.high + 1e-12
    assert (one.ratings, one.categories, one.dropped) == (other.ratings, other.categories, other.dropped)


def _explanations(rng: np.random.Generator, stories: int, each: int) -> tuple[np.ndarray, np.ndarray]:
    """Two raters' answers to explanations whose errors go with the story, and the story of each."""
    story = np.repeat(np.arange(stories), each)
    hard = rng.uniform(0, 0.5, stories)[story] ** 2 * 2
    error = rng.uniform(size=story.size) < 0.4
    flipped = rng.uniform(size=(story.size, 2)) < hard[:, None]
    return np.where(flipped, ~error[:, None], error[:, None]).astype(float), story


def test_items_of_one_story_are_not_independent() -> None:
    """Copies of an item add nothing: the interval is that of one item a story, where items alone make it narrower."""
    values, story = _explanations(np.random.default_rng(1), 30, 1)
    copied, of = np.repeat(values, 10, axis=0), np.repeat(story, 10)
    for found in (ca.gwet, ca.fleiss):
        one, ten, naive = found(values), found(copied, story=of), found(copied)
        assert ten.estimate.value == pytest.approx(one.estimate.value)
        assert (ten.stories, naive.stories, ten.estimate.n) == (30, 300, 300)
        assert ten.standard_error == pytest.approx(one.standard_error, rel=0.15)
        assert naive.standard_error < 0.4 * one.standard_error
        assert ten.raw.high - ten.raw.low > 2 * (naive.raw.high - naive.raw.low)
    # Where no two items are of one story, saying so changes nothing.
    assert ca.gwet(values, story=story) == ca.gwet(values)


def test_intervals_over_stories_cover() -> None:
    rng = np.random.default_rng(2)
    truth = ca.gwet(_explanations(rng, 20_000, 10)[0]).estimate.value
    covered = []
    for _ in range(150):
        values, story = _explanations(rng, 25, 10)
        covered.append(
            [one.low <= truth <= one.high for one in (ca.gwet(values, story=story).estimate, ca.gwet(values).estimate)]
        )
    by_story, by_item = np.mean(covered, axis=0)
    assert by_story > 0.9
    assert by_item < by_story - 0.05


def test_no_interval_rests_on_one_story() -> None:
    values = np.zeros((10, 2))
    values[0] = values[1] = 1
    story = np.arange(10) // 2
    assert ca.fleiss(values, story=story).estimate.reason == "no interval: it rests on one of the 5 stories alone"
    assert ca.gwet(values[:2], categories=np.array([0.0, 1.0]), story=story[:2]).estimate.reason == (
        "no interval with fewer than 2 stories"
    )
