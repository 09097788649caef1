"""The pass rate: share of binary criteria passed, a criterion like others; undefined where a label is missing."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from judge.analysis import correlation
from judge.analysis.inputs.selection import PASS_RATE, asked_for, narrowed, with_pass_rate
from judge.analysis.options.selection import Selection
from judge.analysis.options.table_options import ConsistencyOptions, CorrelationOptions, SystemsOptions
from judge.analysis.reliability.consistency import consistency
from judge.analysis.systems import systems
from judge.base.errors import SpecError
from judge.base.records import Scale
from judge.ratings.rating_matrix import build
from judge.ratings.ratings_table import RatingsTable
from tests.labels.tables import labelled_table

NAN = np.nan
TURNED = Scale.of_labels(["Pass", "Fail"], positive="Pass")


def table(n: int = 24, *, known: bool = True) -> RatingsTable:
    rng = np.random.default_rng(1)
    people = {name: rng.integers(0, 2, (n, 3)).astype(float) for name in "ABC"}
    judge = {name: rng.integers(0, 2, (n, 2)).astype(float) for name in "ABC"}
    people["A"][0, 1] = NAN
    judge["B"][1, 0] = NAN
    places = {"story_prompt": np.arange(n) // 4, "system": np.arange(n) % 4}
    return labelled_table(people, {"m": judge}, scales={"C": TURNED}, known=known, **places)


def test_it_is_the_share_of_positive_labels() -> None:
    whole = with_pass_rate(table()).frame
    plain = whole[whole["criterion"] != PASS_RATE]
    rates = whole[whole["criterion"] == PASS_RATE]
    for reader, rows in plain.groupby(["story", "source", "rater", "repeat"], dropna=False):
        story, source, rater, repeat = reader
        mine = rates[(rates["story"] == story) & (rates["source"] == source)]
        mine = mine[(mine["rater"] == rater) if source == "rater" else (mine["repeat"] == repeat)]
        passed = np.where(rows["criterion"] == "C", 1 - rows["rating"], rows["rating"])
        if len(rows) < 3 or np.isnan(passed).any():
            assert mine["rating"].isna().all()
        else:
            assert mine["rating"].item() == pytest.approx(passed.mean())


def test_a_missing_label_makes_it_undefined_and_is_counted() -> None:
    found = with_pass_rate(table())
    rates = found.frame[found.frame["criterion"] == PASS_RATE]
    lost = rates[rates["rating"].isna()]
    assert lost["status"].tolist() == ["refused"]
    assert (lost["story"].item(), lost["repeat"].item()) == ("s1", 1)
    assert len(rates[rates["source"] == "rater"]) == 24 * 3 - 1
    (fact,) = found.facts
    assert fact.notes[-1].endswith(
        "undefined, as one of them has no label, for 1 of 48 judges' repeats and 1 of 72 people's readings of a story"
    )


def test_people_without_names_have_one_where_a_story_has_one_label() -> None:
    several = with_pass_rate(table(known=False)).frame
    assert not ((several["criterion"] == PASS_RATE) & (several["source"] == "rater")).any()
    one = {name: np.array([0.0, 1, 1]) for name in "AB"}
    alone = with_pass_rate(labelled_table(one, {"m": one}, known=False)).frame
    rates = alone[(alone["criterion"] == PASS_RATE) & (alone["source"] == "rater")]
    assert rates["rating"].tolist() == [0, 1, 1]


def test_it_stands_in_tables_as_any_criterion() -> None:
    kept = narrowed(table(), Selection.of("Pass Rate", None, None, pass_rate=True))
    (matrix,) = build(kept)
    assert matrix.criteria == (PASS_RATE,)
    assert matrix.systems == tuple(f"system {i}" for i in range(4))
    (row,) = [
        row
        for row in correlation.correlations(kept, CorrelationOptions(ci="none", control=False)).rows
        if row.kind == "judge"
    ]
    assert row.stories == 24
    assert row.estimate.defined
    assert {one.subject.criterion for one in [row]} == {PASS_RATE}
    assert "crit:pass rate of 3" in correlation.correlations(kept, CorrelationOptions(ci="none")).signature
    assert len(systems(kept, SystemsOptions(resamples=20)).frame)
    assert consistency(kept, ConsistencyOptions()).frame["criterion"].eq(PASS_RATE).all()


def test_selected_criteria_do_not_change_it() -> None:
    every = with_pass_rate(table()).frame
    some = narrowed(table(), Selection.of(["A", PASS_RATE], None, None, pass_rate=True)).frame
    wanted = every[every["criterion"] == PASS_RATE]["rating"].to_numpy()
    assert np.array_equal(some[some["criterion"] == PASS_RATE]["rating"].to_numpy(), wanted, equal_nan=True)


def test_coverage_counts_what_was_asked() -> None:
    whole = with_pass_rate(table())
    assert len(asked_for(whole).frame) == len(table().frame)
    alone = dataclasses.replace(whole, frame=whole.frame[whole.frame["criterion"] == PASS_RATE])
    assert asked_for(alone) is alone


def test_numbers_are_no_labels() -> None:
    numbers = labelled_table({"A": [[1], [2]]}, {"m": {"A": [1, 2]}}, scales={"A": Scale()})
    with pytest.raises(SpecError, match="two binary criteria or more"):
        with_pass_rate(numbers)
