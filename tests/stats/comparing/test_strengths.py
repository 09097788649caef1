"""Strengths against other programs and simulated truth, and what is undefined named as such."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judge.stats.comparing import davidson
from judge.stats.comparing import paired_comparisons as win_graph
from judge.stats.comparing.davidson import Fit
from judge.stats.comparing.paired_comparisons import Comparisons, comparisons
from judge.stats.comparing.strengths import Bootstrap, strengths
from tests.stats.comparing.simulated import study


@pytest.fixture(scope="module")
def golden(studies: Path) -> tuple[Comparisons, pd.DataFrame]:
    """360 simulated comparisons, and their fits by statsmodels 0.15.0, evalica 0.4.2 and choix 0.4.1."""
    folder = studies / "golden" / "storyer"
    drawn = pd.read_csv(folder / "pairs_simulated.csv")
    found = comparisons(drawn["first"], drawn["second"], drawn["preference"], drawn["story_prompt"])
    return found, pd.read_csv(folder / "pairs_simulated_fits.csv")


def fitted(found: Comparisons, **options: bool) -> Fit:
    fit = davidson.fit(found, **options)
    assert isinstance(fit, Fit)
    return fit


SYSTEMS = ["s0", "s1", "s2", "s3"]


def test_the_fit_and_its_clustered_errors_are_statsmodels(golden: tuple[Comparisons, pd.DataFrame]) -> None:
    found, fits = golden
    fit = fitted(found)
    numbers = fits[[*SYSTEMS, "delta", "log_nu"]].to_numpy(dtype=float)
    assert fit.parameters == pytest.approx(numbers[0], abs=1e-4)
    assert np.sqrt(np.diag(davidson.covariance(fit))) == pytest.approx(numbers[2], abs=1e-4)


def test_fits_without_position_are_evalicas_and_choixs(golden: tuple[Comparisons, pd.DataFrame]) -> None:
    found, fits = golden
    newman, halves, left_out, rates = fits.iloc[3:][SYSTEMS].to_numpy(dtype=float)
    davidsons = fitted(found, position=False)
    assert davidsons.strengths == pytest.approx(newman, abs=1e-4)
    assert davidsons.parameters[-1] == pytest.approx(fits["log_nu"][3], abs=1e-4)
    assert fitted(found.with_ties("half"), position=False).strengths == pytest.approx(halves, abs=1e-4)
    assert fitted(found.with_ties("left-out"), position=False).strengths == pytest.approx(left_out, abs=1e-4)
    # Every pair met equally often in both orders: the fitted win rates are the observed ones.
    assert [rate.value for rate in strengths(found).win_rates] == pytest.approx(rates, abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_random_studies_against_choix(seed: int) -> None:
    choix = pytest.importorskip("choix")
    rng = np.random.default_rng(seed)
    size = int(rng.integers(3, 9))
    first = rng.integers(0, size, 600)
    second = (first + rng.integers(1, size, 600)) % size
    won = rng.random(600) < 1 / (1 + np.exp(0.3 * (second - first)))
    ended = np.column_stack([won, ~won, np.zeros(600)]).astype(float)
    found = Comparisons(tuple(map(str, range(size))), first, second, ended, np.arange(600) % 20)
    pairs = [(a, b) if w else (b, a) for a, b, w in zip(first, second, won, strict=True)]
    theirs = choix.ilsr_pairwise(size, pairs)
    assert fitted(found, position=False).strengths == pytest.approx(theirs - theirs.mean(), abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_position_and_length_against_a_logistic_regression(seed: int) -> None:
    sm = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(seed)
    found = study(rng, 40, taste=0).with_ties("left-out")
    found = Comparisons(
        found.systems, found.first, found.second, found.ended, found.cluster, rng.normal(size=(found.first.size, 1))
    )
    fit = fitted(found)
    rows = np.flatnonzero(found.ended.sum(axis=1) > 0)
    columns = np.zeros((rows.size, 4))
    columns[np.arange(rows.size), found.first[rows]] = 1
    columns[np.arange(rows.size), found.second[rows]] -= 1
    columns = np.column_stack([columns[:, 1:], np.ones(rows.size), found.covariates[rows]])
    theirs = sm.Logit(found.ended[rows, 0], columns).fit(disp=0)
    assert fit.strengths - fit.strengths[0] == pytest.approx([0, *theirs.params[:3]], abs=1e-6)
    assert fit.parameters[4:] == pytest.approx(theirs.params[3:], abs=1e-6)
    cluster = found.cluster[rows]
    robust = sm.Logit(found.ended[rows, 0], columns).fit(
        disp=0, cov_type="cluster", cov_kwds={"groups": cluster, "use_correction": False}
    )
    errors = np.sqrt(np.diag(davidson.covariance(fit)))
    assert errors[4:] == pytest.approx(robust.bse[3:], abs=1e-6)


def test_shares_of_a_verdict_count_as_repeats_would() -> None:
    rng = np.random.default_rng(2)
    found = study(rng, 20)
    twice = Comparisons(*(np.concatenate([x, x]) if isinstance(x, np.ndarray) else x for x in _fields(found)))
    halved = found.of(np.arange(found.first.size), found.ended / 2)
    for other in (twice, halved):
        assert fitted(other).parameters == pytest.approx(fitted(found).parameters, abs=1e-7)
        assert davidson.covariance(fitted(other)) == pytest.approx(davidson.covariance(fitted(found)), abs=1e-8)


def _fields(found: Comparisons) -> tuple[object, ...]:
    covariates = np.zeros((found.first.size, 0))
    return found.systems, found.first, found.second, found.ended, found.cluster, covariates


def of(*wins: str) -> Comparisons:
    """Comparisons `a>b` or `a=b`, the first shown first; every one of a story-prompt of its own."""
    rows = [(w[0], w[2], "tie" if w[1] == "=" else "first", str(k)) for k, w in enumerate(wins)]
    first, second, preference, prompt = ([row[k] for row in rows] for k in range(4))
    return comparisons(first, second, preference, prompt)


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (of("a>b", "b>a", "c>d", "d>c"), "undefined: a, b and c, d never met, directly or through others"),
        (of("a>b", "b>a", "c>a", "c>b"), "undefined: c never lost or tied against the others"),
        (of("a>b", "b>c", "c>a", "a>d", "b>d"), "undefined: a, b, c never lost or tied against the others"),
        (of("a=b", "b=c"), "undefined: every comparison is a tie"),
        (of(), "undefined with fewer than 2 systems"),
    ],
)
def test_what_is_not_determined_names_the_systems(found: Comparisons, reason: str) -> None:
    result = strengths(found)
    assert result.fit is None
    assert result.position.reason == reason
    assert {one.reason for one in (*result.strengths, *result.win_rates)} <= {reason}


def test_a_first_place_that_always_wins_has_no_finite_fit() -> None:
    found = of("a>b", "b>a", "b>c", "c>b")
    assert win_graph.undetermined(found) is None
    reason = "undefined: the story in one of the two positions won every comparison that was not a tie"
    assert strengths(found).position.reason == reason
    assert strengths(found, position=False).strengths[0].value == pytest.approx(0, abs=1e-9)


def test_one_order_alone_leaves_the_place_open() -> None:
    found = of("a>b", "a>b", "a>b")
    swapped = comparisons(["a"] * 4, ["b"] * 4, ["first", "first", "second", "first"], ["p", "q", "r", "s"])
    assert strengths(found).fit is None
    result = strengths(swapped)
    assert result.strengths[0].value == pytest.approx(np.log(3) / 2)
    assert (
        result.position.reason
        == "undefined: the position effect cannot be separated from strengths, since pairs had one order"
    )


def test_one_story_prompt_has_no_interval() -> None:
    found = comparisons([*"aabb"], [*"bbaa"], ["first", "first", "first", "second"], [*"pppp"])
    result = strengths(found, position=False)
    assert result.strengths[0].reason == "no interval: comparisons of one story-prompt only"
    assert all(one.p is None for one in result.differences)


def test_a_graph_is_connected_as_scipy_says() -> None:
    from scipy.sparse import csgraph

    rng = np.random.default_rng(1)
    graphs = rng.random((200, 5, 5)) < 0.3
    expected = [csgraph.connected_components(g, connection="strong")[0] == 1 for g in graphs]
    assert 10 < sum(expected) < 190
    assert win_graph.connected(graphs).tolist() == expected


def test_batched_refits_are_the_fits_of_their_resamples() -> None:
    found = study(np.random.default_rng(3), 25)
    fit = fitted(found)
    from judge.stats.comparing import strengths as cluster_bootstrap

    drawn = cluster_bootstrap.resampled(fit, 20, np.random.default_rng(5)).parameters
    counts = np.random.default_rng(5).multinomial(25, np.full(25, 1 / 25), size=20)
    for k in range(20):
        ended = found.ended * counts[k][found.cluster][:, None]
        again = fitted(found.of(np.arange(found.first.size), ended))
        assert drawn[k] == pytest.approx(again.parameters, abs=1e-6)


def test_leaving_a_story_prompt_out_is_near_the_refit() -> None:
    found = study(np.random.default_rng(4), 40)
    without = davidson.left_out(fitted(found))
    for g in (0, 7, 39):
        again = fitted(found.of(np.flatnonzero(found.cluster != g)))
        assert without[g] == pytest.approx(again.parameters, abs=2e-3)


@pytest.mark.parametrize("taste", [0.0, 0.6])
def test_intervals_hold_the_strengths_they_estimate(taste: float) -> None:
    # 25 studies in the suite; tests/benchmarks/simulations/paired_comparisons.py runs thousands.
    truth = fitted(study(np.random.default_rng(99), 10_000, taste=taste)).strengths
    rng = np.random.default_rng(6)
    held = []
    for _ in range(25):
        result = strengths(study(rng, 100, taste=taste))
        held += [one.low <= true <= one.high for one, true in zip(result.strengths, truth, strict=True)]
    assert np.mean(held) > 0.9


def test_a_planted_position_lies_in_its_interval() -> None:
    rng = np.random.default_rng(8)
    found = [strengths(study(rng, 100, taste=0.2)).position for _ in range(40)]
    # 38 expected; fewer than 34 would have a chance of 1 in 70.
    assert sum(one.low <= 0.5 <= one.high for one in found) >= 34


def test_bootstrap_intervals_are_about_as_wide_as_clustered_ones() -> None:
    found = study(np.random.default_rng(10), 100)
    clustered, drawn = strengths(found), strengths(found, bootstrap=Bootstrap(2000))
    for one, other in itertools.chain(
        zip(clustered.strengths, drawn.strengths, strict=True), zip(clustered.win_rates, drawn.win_rates, strict=True)
    ):
        assert one.value == other.value
        assert (other.high - other.low) / (one.high - one.low) == pytest.approx(1, abs=0.15)
