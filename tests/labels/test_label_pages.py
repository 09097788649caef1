"""Labels where results are shown: shares by system, label words on distributions, confusion heat maps, coverage."""

from __future__ import annotations

import numpy as np
import pytest

from judge.analysis import correlation, labels, systems_tables
from judge.analysis.comparison.result import compared
from judge.analysis.coverage.coverage import coverage
from judge.analysis.coverage.coverage import tables as coverage_tables
from judge.analysis.distributions import distributions
from judge.analysis.distributions import table as distribution_table
from judge.analysis.options.agreement_options import ConfusionOptions
from judge.analysis.options.table_options import CompareOptions, CorrelationOptions, SystemsOptions
from judge.analysis.systems import systems
from judge.base.records import Scale
from judge.questions.charts import distributions as chart
from judge.questions.charts.confusion import confusion_map
from judge.ratings.ratings_table import RatingsTable
from judge.show.pages import charts
from tests.labels.tables import labelled_table

SCALES = {"C": Scale.of_labels(["bad", "fair", "good"]), "D": Scale.of_labels(["a", "b", "c"], ordered=False)}


def table(*criteria: str) -> RatingsTable:
    rng = np.random.default_rng(2)
    top = {name: 3 if name in SCALES else 2 for name in criteria}
    people = {name: rng.integers(0, top[name], (40, 3)).astype(float) for name in criteria}
    judge = {name: rng.integers(0, top[name], (40, 2)).astype(float) for name in criteria}
    judge[criteria[0]][0] = np.nan
    places = {"story_prompt": np.arange(40) // 4, "system": np.arange(40) % 4}
    return labelled_table(people, {"m": judge, "o": judge}, scales=SCALES, **places)


def test_systems_have_shares_of_yes_in_per_cent() -> None:
    found = systems(table("A"), SystemsOptions(resamples=20))
    first = systems_tables.tables(found)[0]
    assert first.title == "Share of Yes, toy: A, by judge"
    column = next(one for one in first.columns if one.key == "people")
    assert (column.title, column.factor) == ("people %", 100)
    mixed = systems_tables.tables(systems(table("A", "C"), SystemsOptions(resamples=20)))[0]
    assert mixed.title.startswith("Mean rating")
    assert [column.title for column in mixed.columns][2:5] == ["A, Yes %", "C", "average"]


def test_distributions_name_the_labels() -> None:
    (found,) = distributions(table("A", "C"))
    titles = [column.title for column in distribution_table(found).columns]
    assert titles[3:6] == ["No %", "bad %", "Yes %"]
    made = chart.distributions(found)
    assert "m, ep1, A: Yes in " in made.tip(1, 0, 1)
    page = str(charts.distributions(made, "x"))
    assert ">Yes</text>" in page
    assert ">good</text>" in page


def test_confusion_matrices_are_a_heat_map() -> None:
    found = labels.confusions(table("A", "B"), ConfusionOptions(ci="none"))
    rows = [row for row in found.main("toy") if row.kind != "control"]
    assert {row.subject.criterion for row in rows} == {"all criteria"}
    heat = confusion_map(found, rows, "toy")
    assert heat.columns == ("No", "Yes")
    assert [row.label for row in heat.rows] == ["people: No", "people: Yes"] * 3
    counts = np.array(rows[1].counts)
    assert heat.rows[2].cells[1].value == pytest.approx(100 * counts[0, 1] / counts[0].sum())
    assert "people: Yes" in str(charts.heat_map(heat, "x"))


def test_what_numbers_over_codes_mean_is_said() -> None:
    phi = "of two labels, codes 0 and 1: tau-b of one label with another is phi"
    options = CorrelationOptions(ci="none", control=False)
    assert phi in correlation.correlations(table("A"), options).notes
    notes = correlation.correlations(table("C", "D"), options).notes
    assert "left out: D: labels without an order (a, b, c) have no means, ranks or correlations" in notes
    assert phi not in notes
    compare = CompareOptions(by="judge", resamples=20, permutations=20)
    assert phi in compared(table("A"), compare).notes


def test_refusals_are_lost_and_bounds_speak_of_labels() -> None:
    found = coverage(table("A"))
    assert found.total.rows[0].lost == {"refused": 4}
    bounds = coverage_tables(found)[-1]
    assert bounds.rows[0]["scale"] == "No-Yes"
    assert bounds.rows[0]["missing"] == 2
    assert any("mean of labels" in str(note) for note in bounds.notes)
