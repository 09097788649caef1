"""The published layout holds the correlation table's numbers, turned on their side."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pandas as pd
import pytest

from judge.analysis import correlation
from judge.analysis.agreement import correlation_grid
from judge.analysis.options.table_options import CorrelationOptions
from judge.base.estimate import Estimate
from judge.ratings.ratings_table import RatingsTable

# Published overall Kendall tau-b x100 (HANNA judge study), Eval-Prompt 1: RE CH EM SU EG CX and their mean.
PUBLISHED = {
    "Beluga-13B": [21, 26, 27, 17, 26, 32, 25],
    "Llama-13B": [16, 18, 15, 12, 11, 26, 16],
    "Mistral-7B": [22, 22, 20, 13, 21, 23, 20],
    "ChatGPT": [15, 22, 20, 5, 19, 27, 18],
}


@pytest.fixture(scope="module")
def hanna(hanna_table: RatingsTable) -> correlation_grid.Layout:
    options = CorrelationOptions(drop_systems=("Human",), ci="none")
    (found,) = correlation_grid.layouts(correlation.correlations(hanna_table, options))
    return found


def test_the_published_cells(hanna: correlation_grid.Layout) -> None:
    assert hanna.short == ("RE", "CH", "EM", "SU", "EG", "CX")
    rows = {row.judge: row for row in hanna.rows if row.eval_prompt == "ep1"}
    for judge, expected in PUBLISHED.items():
        found = [cell.value for cell in (*rows[judge].cells, rows[judge].mean)]
        assert [round(100 * value) for value in found] == expected
    assert hanna.size == "n = 960 stories"
    assert hanna.systems == 10


def test_rows_are_grouped_by_judge_with_the_ceiling_first(hanna: correlation_grid.Layout) -> None:
    assert hanna.rows[0].kind == correlation_grid.CEILING
    assert not hanna.rows[0].mean.defined
    judges = [row.judge for row in hanna.rows if row.kind == correlation_grid.JUDGE]
    assert len(judges) == 21
    assert sum(a != b for a, b in pairwise(judges)) == 5


def test_cells_are_those_of_the_correlation_table(make_table) -> None:
    table = make_table(judged=("Relevance", "Empathy"), rated=("Overall",))
    options = CorrelationOptions(resamples=50)
    (found,) = correlation_grid.layouts(correlation.correlations(table, options))
    (flat,) = correlation.tables(correlation.correlations(table, options))
    assert found.signature == flat.signature
    assert [cell for row in found.rows if row.kind == correlation_grid.JUDGE for cell in row.cells] == [
        row["value"] for row in flat.rows if row["kind"] == correlation_grid.JUDGE
    ]
    (mean,) = (row["value"] for row in flat.rows if row["kind"] == "mean" and row["judge"] == "openai/m")
    assert next(row.mean for row in found.rows if row.kind == correlation_grid.JUDGE) == mean
    # The one ceiling stands over both criteria, as both are compared with it.
    ceiling = next(row["value"] for row in flat.rows if row["kind"] == correlation_grid.CEILING)
    assert found.rows[0].cells == (ceiling, ceiling)
    assert found.half_width > 0
    (printed,) = correlation_grid.tables([found])
    assert [column.title for column in printed.columns] == ["judge", "eval prompt", "RE", "EM", "mean"]
    assert printed.title.endswith("with people, over all stories, n = 48 stories")


def test_nobody_rated_leaves_no_cell_defined(make_table) -> None:
    (found,) = correlation_grid.layouts(correlation.correlations(make_table(rated=())))
    assert found.size == "no cell is defined"
    assert found.half_width is None
    assert [row.kind for row in found.rows] == [correlation_grid.JUDGE]


def test_a_control_judge_is_labelled_and_runs_are_named_where_there_are_several(make_table, make_facts) -> None:
    table = make_table()
    again = table.frame[table.frame["source"] == "judge"].assign(run="s")
    facts = (make_facts(judge="openai/m", control=True), make_facts(judge="openai/m", control=True, run="s"))
    both = replace(table, frame=pd.concat([table.frame, again], ignore_index=True), facts=facts)
    (found,) = correlation_grid.layouts(correlation.correlations(both, CorrelationOptions(ci="none")))
    assert [row.judge for row in found.rows if row.kind == correlation_grid.JUDGE] == [
        "openai/m, control (r)",
        "openai/m, control (s)",
    ]


def test_the_half_width_is_the_median_of_the_intervals_that_there_are() -> None:
    cells = (Estimate(0.3, 10, 0.1, 0.5), Estimate(0.3, 10, 0.2, 0.5), Estimate(0.3, 10, 0.2, 0.3), Estimate(0.3, 10))
    row = correlation_grid.LayoutRow("judge", "a", "ep1", cells, cells[0])
    names = ("A", "B", "C", "D")
    grid = correlation_grid.Layout("d", "tau-b", "over all", "stories", names, names, (row,), 1, "", ())
    assert grid.half_width == pytest.approx(0.15)
    assert replace(grid, rows=()).half_width is None
