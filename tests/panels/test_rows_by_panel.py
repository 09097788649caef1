"""Rows by panel in the tables about agreement: each is what the panel's people alone give."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from judge.analysis.agreement import correlation_grid
from judge.analysis.comparison import tables as compare_tables
from judge.analysis.comparison.result import both_parsers, compared
from judge.analysis.correlation import Correlations, correlations
from judge.analysis.correlation.margins import margins, of_panels, table_of
from judge.analysis.inputs.selection import of_panel
from judge.analysis.options.table_options import CompareOptions, CorrelationOptions
from judge.ratings.ratings_table import RatingsTable
from tests.panels.study import study

OPTIONS = CorrelationOptions(resamples=100, control=False)


@pytest.fixture(scope="module")
def table() -> RatingsTable:
    """Lay readers follow the judge, experts turn it round."""
    return study({"lay": 1.0, "expert": -0.8})


@pytest.fixture(scope="module")
def found(table: RatingsTable) -> Correlations:
    return correlations(table, OPTIONS, paired=True)


def test_margins_have_a_row_for_each_panel(table: RatingsTable, found: Correlations) -> None:
    made = table_of(found, margins(found), of_panels(found))
    assert [row["people"] for row in made.rows] == ["all", "expert", "lay"]
    assert "people" in [column.key for column in made.columns]
    for row in made.rows[1:]:
        alone = correlations(of_panel(table, row["people"]), OPTIONS, paired=True)
        (margin,) = margins(alone)
        assert row["value"] == margin.value
        assert row["over_ceiling"] == margin.over["ceiling"]
    assert made.rows[1]["value"].value < 0 < made.rows[2]["value"].value


def test_the_grid_has_a_row_for_each_panel(found: Correlations) -> None:
    (layout,) = correlation_grid.layouts(found)
    (made,) = correlation_grid.tables([layout])
    rows = [(row["people"], row["kind"]) for row in made.rows]
    assert rows == [(name, kind) for kind in ("ceiling", "judge") for name in ("all", "expert", "lay")]
    values = {row["people"]: row["Fun"] for row in made.rows if row["kind"] == "judge"}
    for name, alone in found.panels.items():
        (row,) = (one for one in alone.rows if one.kind == "judge")
        assert values[name] == row.estimate


def test_without_panels_nothing_is_added(table: RatingsTable) -> None:
    plain = correlations(of_panel(table, "lay"), OPTIONS, paired=True)
    assert "people" not in [column.key for column in table_of(plain, margins(plain), of_panels(plain)).columns]
    (made,) = correlation_grid.tables(correlation_grid.layouts(plain))
    assert "people" not in [column.key for column in made.columns]


def _two_judges(table: RatingsTable) -> RatingsTable:
    frame = table.frame.copy()
    second = frame[frame["source"] == "judge"].assign(eval_prompt="ep2")
    second["rating"] = np.clip(second["rating"] + np.arange(len(second)) % 2, 1, 5)
    facts = tuple(replace(fact, eval_prompts=("ep1", "ep2")) for fact in table.facts)
    return replace(table, frame=pd.concat([frame, second], ignore_index=True), facts=facts)


def test_comparisons_say_whose_ratings_their_taus_are_with(table: RatingsTable) -> None:
    options = CompareOptions(resamples=50, permutations=50)
    both = _two_judges(table)
    made = {one.title: one for one in compare_tables.tables(compared(both, options))}
    about = [one for title, one in made.items() if title.startswith(("Agreement with people", "Differences, mean"))]
    assert len(about) == 2
    assert all("people of 2 panels (expert, lay) are taken together" in " ".join(one.notes) for one in about)
    alone = compared(of_panel(both, "lay"), options)
    assert alone.people == ("people: those of the panel lay only",)
    assert "|panel:lay|" in alone.signature


def test_two_parsers_keep_the_panel(table: RatingsTable) -> None:
    lay = of_panel(table, "lay")
    assert both_parsers(lay, table).panel == "lay"
