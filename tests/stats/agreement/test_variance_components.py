"""Variance components against Brennan 2001 (printed tables), R's lme4 and anova(), and simulation."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from judge.base.errors import DataError
from judge.cli.table_options import with_flags
from judge.stats.agreement import icc
from judge.stats.agreement.variance_components import Facet, VarianceComponents, analogous_anova, variance_components
from tests.stats.brennan import SET_3, SET_4

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
SPR = [Facet("s"), Facet("p"), Facet("r", ("s", "p"))]


def _set_3() -> VarianceComponents:
    facets = [Facet("p"), Facet("o"), Facet("i")]
    return variance_components(SET_3, facets, rng=np.random.default_rng(0))


def _set_4() -> VarianceComponents:
    facets = [Facet("p"), Facet("t"), Facet("r", nested_in=("t",))]
    return variance_components(SET_4, facets, rng=np.random.default_rng(0))


def test_brennans_crossed_example() -> None:
    found = _set_3()
    printed = {"p": 0.5528, "i": 0.4417, "o": 0.0074, "p x i": 0.5750, "p x o": 0.1009, "o x i": 0.1565}
    assert {term: round(float(found[term].variance.value), 4) for term in printed} == printed
    assert round(float(found["p x o x i"].variance.value), 4) == 0.9352
    assert [c.df for c in found.components] == [9, 1, 3, 9, 27, 3, 27]
    assert round(found["p"].mean_square, 4) == 6.9111


def test_brennans_nested_example() -> None:
    found = _set_4()
    printed = {"p": 0.4731, "t": 0.3252, "r in t": 0.6475, "p x t": 0.5596, "p x r in t": 2.3802}
    assert {str(c.term): round(float(c.variance.value), 4) for c in found.components} == printed
    assert {str(c.term): c.df for c in found.components} == {"p": 9, "t": 2, "r in t": 9, "p x t": 18, "p x r in t": 81}
    squares = {"p": 10.2963, "t": 24.1, "r in t": 8.8556, "p x t": 4.6185, "p x r in t": 2.3802}
    assert {str(c.term): round(c.mean_square, 4) for c in found.components} == squares


# R 4.2.2, lme4 1.1.31 (Debian 12); command, in tests/golden: Rscript variance_components.R
SHORT = {"s": "system", "p": "story-prompt", "e": "Eval-Prompt", "j": "judge", "story": "story"}
DESIGNS = {
    "spe": ("s", "p", "e"),
    "spej": ("s", "p", "e", "j"),
    "nested": ("s", "story", "e"),
    "negative": ("s", "p", "e"),
}


def _golden(design: str, kind: str, file: str = "variance_components.csv") -> dict[frozenset[str], float]:
    with (GOLDEN / file).open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(line for line in stream if not line.startswith("#")))
    every = frozenset([*(SHORT[n] for n in DESIGNS[design]), "repeat"])
    return {
        every if row["term"].startswith("Residual") else frozenset(SHORT[n] for n in row["term"].split(":")): float(
            row["value"]
        )
        for row in rows
        if (row["design"], row["kind"]) == (design, kind)
    }


def _simulated(design: str, lost: Callable[[int], bool] = lambda _: False) -> VarianceComponents:
    names = (*DESIGNS[design], "repeat.")
    with (GOLDEN / f"variance_components_{design}.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    shape = tuple(max(int(row[name]) for row in rows) for name in names)
    ratings = np.full(shape, np.nan)
    for number, row in enumerate(rows, start=1):
        if not lost(number):
            ratings[tuple(int(row[name]) - 1 for name in names)] = float(row["y"])
    outer = tuple(SHORT[n] for n in DESIGNS[design])
    facets = [Facet(SHORT[n], ("system",) if n == "story" else ()) for n in DESIGNS[design]]
    return variance_components(ratings, [*facets, Facet("repeat", outer)], rng=np.random.default_rng(0))


@pytest.mark.parametrize("design", list(DESIGNS))
def test_mean_squares_are_those_of_r(design: str) -> None:
    theirs = _golden(design, "ms")
    if design == "nested":  # R names the interaction s:e:story, and story within system s:story
        assert frozenset({"system", "story", "Eval-Prompt"}) in theirs
    ours = {c.term.indices: c.mean_square for c in _simulated(design).components}
    assert ours.keys() == theirs.keys()
    for indices, square in theirs.items():
        assert ours[indices] == pytest.approx(square, rel=1e-7)


@pytest.mark.parametrize("design", ["spe", "spej", "nested"])
def test_positive_components_are_lme4s_reml_estimates(design: str) -> None:
    theirs = _golden(design, "reml")
    ours = {c.term.indices: c.variance.value for c in _simulated(design).components}
    assert ours.keys() == theirs.keys()
    assert min(theirs.values()) > 0
    for indices, variance in theirs.items():
        assert ours[indices] == pytest.approx(variance, rel=2e-4)  # lme4's optimizer stops there


def test_negative_components_are_reported_as_estimated_and_marked() -> None:
    found = _simulated("negative")
    below = [c for c in found.components if c.negative]
    assert len(below) >= 2
    assert all(c.variance.value < 0 and c.truncated == 0 and found.share(c).value == 0 for c in below)
    assert sum(found.share(c).value for c in found.components) == pytest.approx(1)


def test_two_facets_are_the_mean_squares_of_the_icc_family() -> None:
    ratings = np.random.default_rng(4).normal(size=(30, 1)) + np.random.default_rng(5).normal(size=(30, 4))
    found = variance_components(ratings, [Facet("story"), Facet("rater")], rng=np.random.default_rng(0))
    ms = icc.mean_squares(ratings)
    assert found["story"].mean_square == pytest.approx(float(ms.between), rel=1e-12)
    assert found["rater"].mean_square == pytest.approx(float(ms.columns), rel=1e-12)
    agreement = found["story"].variance.value / sum(c.variance.value for c in found.components)
    assert agreement == pytest.approx(icc.family(ratings)["ICC(2,1)"].estimate.value, rel=1e-12)


def test_expected_mean_squares_of_a_design_by_hand() -> None:
    # system (3) x story-prompt (4), repeats (2) within: E(MS) of system is s2_e + 2 s2_sp + 8 s2_s.
    found = analogous_anova(np.random.default_rng(0).normal(size=(3, 4, 2)), SPR)
    by_hand = np.array([[8, 0, 2, 1], [0, 6, 2, 1], [0, 0, 2, 1], [0, 0, 0, 1]])
    assert found.expected == pytest.approx(by_hand, abs=1e-12)
    assert found.df.tolist() == [2, 3, 6, 12]
    assert found.seen.tolist() == [3, 4, 12, 24]


def _gaps(number: int) -> bool:
    """Which rows have no rating, as variance_components_gaps.R has it."""
    return (number * 7919) % 101 < 17 or (number // 3) % 37 == 5


# R 4.2.2, lme4 1.1.31 (Debian 12); command, in tests/golden: Rscript variance_components_gaps.R
@pytest.mark.parametrize("design", ["spe", "spej", "nested"])
def test_with_gaps_components_are_those_of_explicit_matrices_in_r(design: str) -> None:
    theirs = _golden(design, "method-1", "variance_components_gaps.csv")
    found = _simulated(design, _gaps)
    ours = {c.term.indices: c.variance.value for c in found.components}
    assert ours.keys() == theirs.keys()
    for indices, variance in theirs.items():
        assert ours[indices] == pytest.approx(variance, abs=1e-8)
    with (GOLDEN / "variance_components_gaps.csv").open(encoding="utf-8") as stream:
        assert f"{design},n,ratings,{found.n}\n" in stream.readlines()


@pytest.mark.parametrize("design", ["spe", "nested"])
def test_with_gaps_components_are_near_lme4s_reml_estimates(design: str) -> None:
    theirs = _golden(design, "reml", "variance_components_gaps.csv")
    ours = {c.term.indices: c.variance.value for c in _simulated(design, _gaps).components}
    assert ours.keys() == theirs.keys()
    total = sum(theirs.values())
    for indices, variance in theirs.items():  # another estimator of the same: within 2 % of the variance of a rating
        assert ours[indices] == pytest.approx(variance, abs=0.02 * total)


def test_expectations_hold_exactly_whatever_is_missing() -> None:
    # E(y'Qy) = tr(Q V): the mean square of each term from unit ratings, against effects' covariances by hand.
    rng = np.random.default_rng(5)
    shape, facets = (3, 4, 3), [Facet("s"), Facet("p"), Facet("e")]
    gaps = rng.random(shape) < 0.25
    where = np.argwhere(~gaps)

    def squares(y: np.ndarray) -> np.ndarray:
        ratings = np.full(shape, np.nan)
        ratings[tuple(where.T)] = y
        return analogous_anova(ratings, facets).squares

    unit = np.eye(len(where))
    on = np.array([squares(row) for row in unit])
    both = np.array([[squares(a + b) for b in unit] for a in unit])
    quadratic = (both - on[:, None] - on[None, :]) / 2  # Q of each term, by polarization
    quadratic[np.arange(len(where)), np.arange(len(where))] = on
    some = np.full(shape, np.nan)
    some[tuple(where.T)] = rng.normal(size=len(where))
    found = analogous_anova(some, facets)
    for j, term in enumerate(found.terms):
        axes = [i for i, facet in enumerate(facets) if facet.name in term.indices]
        same = (where[:, None, axes] == where[None, :, axes]).all(axis=2)
        assert np.einsum("abt,ab->t", quadratic, same) == pytest.approx(found.expected[:, j], abs=1e-9)


def _integer_ratings(rng: np.random.Generator) -> np.ndarray:
    """6 systems, 15 story-prompts, 2 Eval-Prompts, 3 repeats on 1 to 5: skewed effects, rounded and cut at the ends."""
    skew = (
        rng.exponential(0.8, (6, 1, 1, 1))
        + rng.uniform(-0.6, 0.6, (1, 15, 1, 1))
        + 0.4 * rng.integers(0, 2, (1, 1, 2, 1))
    )
    story = rng.choice([-0.5, 0.5], (6, 15, 1, 1)) + rng.laplace(0, 0.2, (6, 15, 2, 1))
    return np.clip(np.rint(2 + skew + story + rng.logistic(0, 0.3, (6, 15, 2, 3))), 1, 5)


@pytest.mark.parametrize("lost", [0.02, 0.1, 0.3])
def test_loss_at_random_does_not_bias_components_of_bounded_integer_ratings(lost: float) -> None:
    rng = np.random.default_rng(int(100 * lost))
    facets = [Facet("s"), Facet("p"), Facet("e"), Facet("r", ("s", "p", "e"))]
    differences, complete = [], []
    for _ in range(100):
        ratings = _integer_ratings(rng)
        whole = variance_components(ratings, facets, rng=rng, draws=2)
        ratings[rng.random(ratings.shape) < lost] = np.nan
        part = variance_components(ratings, facets, rng=rng, draws=2)
        assert part.n == int((~np.isnan(ratings)).sum()) < whole.n
        complete.append([c.variance.value for c in whole.components])
        differences.append(
            [a.variance.value - b.variance.value for a, b in zip(part.components, whole.components, strict=True)]
        )
    error = np.std(differences, axis=0, ddof=1) / 100**0.5
    assert (np.abs(np.mean(differences, axis=0)) < 4 * error + 1e-12).all()
    # What is lost costs little precision: less than the story-prompts and systems that were drawn.
    assert (np.std(differences, axis=0) < 0.8 * np.std(complete, axis=0) + 0.02).all()


@pytest.mark.parametrize(("repeats", "lost"), [(3, 0.0), (1, 0.1), (3, 0.1)])
def test_intervals_cover_the_true_components_where_one_in_ten_is_lost_too(repeats: int, lost: float) -> None:
    rng = np.random.default_rng(7)
    true = {"s": 0.5, "p": 0.3, "s x p": 0.2, "r in s x p": 0.4}
    inside = dict.fromkeys(true, 0)
    times = 400
    for _ in range(times):
        ratings = rng.normal(0, true["s"] ** 0.5, (6, 1, 1)) + rng.normal(0, true["p"] ** 0.5, (1, 12, 1))
        ratings = ratings + rng.normal(0, true["s x p"] ** 0.5, (6, 12, 1))
        ratings = ratings + rng.normal(0, true["r in s x p"] ** 0.5, (6, 12, repeats))
        ratings[rng.random(ratings.shape) < lost] = np.nan
        facets = SPR if repeats > 1 else SPR[:2]
        found = variance_components(ratings if repeats > 1 else ratings[..., 0], facets, rng=rng, draws=400)
        goal = true if repeats > 1 else {"s": 0.5, "p": 0.3, "s x p": 0.6}
        for term, value in goal.items():
            low, high = found[term].variance.low, found[term].variance.high
            inside[term] += low is not None and low <= value <= high
    for term, count in inside.items():
        if repeats > 1 or term != "r in s x p":
            assert 0.91 <= count / times <= 0.985, term


def test_levels_are_those_with_ratings_and_repeats_their_mean_number() -> None:
    ratings = np.random.default_rng(2).normal(size=(4, 6, 3))
    ratings[:, 5, :] = np.nan
    ratings[0, :, 0] = np.nan
    found = variance_components(ratings, SPR, rng=np.random.default_rng(0))
    assert found.levels == {"s": 4, "p": 5, "r": 3}  # 55 ratings of 20 queries: 2.75 each
    assert [c.variance.n for c in found.components] == [4, 5, 20, 55]


def test_too_few_combinations_are_refused_by_name() -> None:
    ratings = np.full((3, 3), np.nan)
    ratings[[0, 1, 2, 0], [0, 1, 2, 1]] = [1.0, 2.0, 3.0, 5.0]
    with pytest.raises(
        DataError, match=r"the variance of s x p cannot be estimated: too few of its combinations"
    ) as caught:
        variance_components(ratings, SPR[:2], rng=np.random.default_rng(0))
    assert "judge run --retry" in with_flags(caught.value.hint or "")


def test_a_variance_below_0_with_all_its_interval_has_a_share_without_interval() -> None:
    rng = np.random.default_rng(0)
    ratings = rng.normal(size=(40, 20))
    ratings -= 0.95 * ratings.mean(axis=0)  # columns that agree more than chance allows
    found = variance_components(ratings, [Facet("s"), Facet("p")], rng=rng)
    assert found["p"].variance.high < 0
    share = found.share(found["p"])
    assert (share.value, share.low) == (0, None)
    assert "below 0, up to the upper end of its interval" in str(share.reason)


@pytest.mark.parametrize(
    ("shape", "facets", "words"),
    [
        ((3, 1), [Facet("a"), Facet("b")], "b has 1 level: a variance needs two or more"),
        ((3, 2), [Facet("a"), Facet("b", ("c",))], "b is nested in c, which is not a facet here"),
        ((3,), [Facet("a")], "need two or more facets"),
        ((3, 2), [Facet("a"), Facet("a")], "need two or more facets"),
    ],
)
def test_impossible_designs_are_refused(shape: tuple[int, ...], facets: list[Facet], words: str) -> None:
    with pytest.raises(DataError, match=words):
        variance_components(np.ones(shape), facets, rng=np.random.default_rng(0))


def test_equal_repeats_have_no_variance_and_no_interval() -> None:
    means = np.random.default_rng(1).normal(size=(4, 5, 1))
    facets = [Facet("s"), Facet("p"), Facet("repeat", ("s", "p"))]
    found = variance_components(np.repeat(means, 3, axis=2), facets, rng=np.random.default_rng(0))
    repeat = found.components[-1]
    assert repeat.variance.value == 0
    assert repeat.variance.low is None
    assert "does not vary at all" in str(repeat.variance.reason)
    assert found.share(repeat).value == 0


def test_equal_ratings_have_no_shares() -> None:
    found = variance_components(np.full((3, 4), 2.0), [Facet("s"), Facet("p")], rng=np.random.default_rng(0))
    assert found.total == 0
    assert found.share(found.components[0]).value is None
