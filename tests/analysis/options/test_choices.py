"""A choice has one record for each of its words, and its records compute what the words say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

import numpy as np
import pytest

from judge.analysis.jury.panel import COMBINERS
from judge.analysis.options.choices import INTERVALS, LEVELS, METHODS, IntervalMethod, Level, NamedInterval
from judge.analysis.options.table_options import Combiner, Interval, NamedCombiner
from judge.base.choices import registry
from judge.stats.agreement import chance_agreement, krippendorff
from judge.stats.agreement.alt_test import MEASURES, Measure
from judge.stats.comparing.paired_comparisons import Comparisons
from judge.stats.correlation import coefficients
from judge.stats.correlation.coefficients import COEFFICIENTS, Coefficient
from judge.stats.estimation import paired_differences as multiplicity
from judge.stats.estimation import stratified
from judge.stats.regression import calibration
from judge.stats.resampling import bootstrap, jackknife
from judge.stats.resampling import resampled_correlations as resampled_correlation

CHOICES: list[tuple[Any, Mapping[Any, Any]]] = [
    (Coefficient, COEFFICIENTS),
    (Level, LEVELS),
    (NamedInterval, INTERVALS),
    (IntervalMethod, METHODS),
    (Measure, MEASURES),
    (NamedCombiner, COMBINERS),
]


@pytest.mark.parametrize(("words", "records"), CHOICES)
def test_every_word_has_its_record(words: Any, records: Mapping[Any, Any]) -> None:
    assert list(records) == list(get_args(words))
    assert len(set(map(repr, records.values()))) == len(records)


def test_words_that_stand_for_others_are_the_only_ones_without_a_record() -> None:
    assert set(get_args(Interval)) - set(INTERVALS) == {"auto"}
    assert set(get_args(Combiner)) - set(COMBINERS) == {"auto"}


@pytest.mark.parametrize(("words", "records"), CHOICES)
def test_a_word_without_a_record_ends_the_import(words: Any, records: Mapping[Any, Any]) -> None:
    with pytest.raises(TypeError, match=r"words without a record: \['gamma'\]"):
        registry(Literal["gamma", words], records)
    with pytest.raises(TypeError, match=r"records of no word: \['gamma'\]"):
        registry(words, {**records, "gamma": None})


@pytest.mark.parametrize("coefficient", get_args(Coefficient))
@pytest.mark.parametrize("grouping", get_args(resampled_correlation.Grouping))
def test_a_coefficients_ways_to_compute_it_agree(coefficient: Coefficient, grouping: Any) -> None:
    """A resample that draws every story once gives the coefficient itself, by each algorithm that there is."""
    rng = np.random.default_rng(4)
    group = np.repeat(np.arange(6), 7)
    x, y = rng.integers(1, 6, 42).astype(np.float64), rng.integers(1, 6, 42).astype(np.float64)
    x[3] = np.nan
    stories = np.arange(42)
    once = bootstrap.Resamples((bootstrap.Factor(np.ones((1, 42), dtype=np.int32), stories),), "boot-stories")
    expected = {
        "overall": lambda: coefficients.correlate(x, y, coefficient),
        "means": lambda: coefficients.correlate_means(x, y, group, coefficient),
        "within": lambda: coefficients.correlate_within(x, y, group, coefficient),
    }[grouping]()
    (drawn,) = resampled_correlation.values(once, x, y, coefficient, grouping=grouping, group=group)
    assert drawn == pytest.approx(expected.value, abs=1e-8)  # means are rounded to 1e-9
    if grouping == "overall":
        (weighted,) = coefficients.resampled(x, y, coefficient)(np.ones((1, 42), dtype=np.int64))
        assert weighted == pytest.approx(expected.value, abs=1e-12)


def test_a_new_coefficient_is_one_record(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its value, its means and its resamples are its own, not those of a coefficient that was there."""

    def negative(record: Any) -> Any:
        return coefficients.CoefficientRecord(
            "the negative",
            "neg",
            lambda x, y: -record.of(x, y),
            lambda x, y: lambda weights: -record.resampled(x, y)(weights),
            lambda x, y, mass: -record.of_rows(x, y, mass),
        )

    records = {**COEFFICIENTS, "negative": negative(COEFFICIENTS["pearson"])}
    for module in (coefficients, resampled_correlation):
        monkeypatch.setattr(module, "COEFFICIENTS", records)
    rng = np.random.default_rng(1)
    group, (x, y) = np.repeat(np.arange(8), 5), rng.normal(size=(2, 40))
    drawn = bootstrap.draw(np.arange(40), 20, rng, "boot-stories")
    new: Any = "negative"
    assert coefficients.correlate(x, y, new).value == -(coefficients.correlate(x, y, "pearson").value or 0)
    for grouping in get_args(resampled_correlation.Grouping):
        old = resampled_correlation.values(drawn, x, y, "pearson", grouping=grouping, group=group)
        found = resampled_correlation.values(drawn, x, y, new, grouping=grouping, group=group)
        np.testing.assert_allclose(found, -old, atol=1e-12)


SCORES, NONE, RNG = np.arange(20.0), np.zeros(20, dtype=np.int64), np.random.default_rng(1)
PAIR = Comparisons(("a", "b"), NONE[:1], NONE[:1] + 1, np.ones((1, 3)), NONE[:1])
GAMMA: Any = "gamma"
DISPATCHES: dict[str, Callable[[], object]] = {
    "calibration": lambda: calibration.fit_calibration(SCORES, SCORES % 5, GAMMA),
    "ties": lambda: PAIR.with_ties(GAMMA),
    "tail": lambda: jackknife._p(1.0, 5, GAMMA),
    "allocation": lambda: stratified.draw(NONE, SCORES, 3, RNG, GAMMA),
    "adjustment": lambda: multiplicity.adjust(SCORES / 20, GAMMA, family="tests"),
    "weights": lambda: chance_agreement._weight_matrix(SCORES, GAMMA),
    "level of measurement": lambda: krippendorff._difference(SCORES, GAMMA),
}


@pytest.mark.parametrize("what", DISPATCHES)
def test_a_word_that_is_half_made_computes_nothing(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new word that the check of words already allows is not computed as another one."""
    for module, allowed in ((stratified, "ALLOCATIONS"), (multiplicity, "METHODS"), (chance_agreement, "WEIGHTINGS")):
        monkeypatch.setattr(module, allowed, (*getattr(module, allowed), GAMMA))
    with pytest.raises((AssertionError, ValueError), match="gamma"):
        DISPATCHES[what]()
