"""The typed result: what tables, frames, grids and margins are made from, and that they agree with it."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from judge.analysis.agreement import correlation_grid
from judge.analysis.correlation import correlations, tables
from judge.analysis.correlation.margins import CEILING, margins
from judge.analysis.inputs.bars import ControlMade, ControlSource, Remarks
from judge.analysis.inputs.candidates import candidates
from judge.analysis.inputs.control import Control
from judge.analysis.options.choices import Level
from judge.analysis.options.table_options import CorrelationOptions
from judge.base.estimate import Estimate, Reason
from judge.ratings.rating_matrix import build
from judge.ratings.ratings_table import RatingsTable

BOTH = ("Relevance", "Empathy")
OPTIONS = CorrelationOptions(resamples=50)


def shipped(stories, people, criterion):
    values = np.arange(len(stories), dtype=float)
    return SimpleNamespace(values=values, how="surface:test", source=ControlSource.SHIPPED, reason="half of them")


def test_table_frame_and_grid_hold_the_rows_numbers(make_table) -> None:
    result = correlations(make_table(judged=BOTH, rated=BOTH, text="once"), OPTIONS, shipped)
    (printed,) = tables(result)
    (grid,) = correlation_grid.layouts(result)
    assert [row["value"] for row in printed.rows] == [row.estimate for row in result.rows]
    assert [row["kind"] for row in printed.rows] == [row.kind for row in result.rows]
    values = [None if np.isnan(value) else value for value in result.frame["value"]]
    assert values == [row.estimate.value for row in result.rows]
    cells = {row.kind: row.cells for row in grid.rows}
    for kind, found in cells.items():
        assert list(found) == [row.estimate for row in result.rows if row.kind == kind]
    assert result.frame.attrs == {"signature": printed.signature, "notes": list(result.notes)}
    assert result.signature == "|".join(result.signature_parts)


def test_what_it_is_over_and_how_the_control_was_made_are_values(make_table) -> None:
    options = CorrelationOptions(coefficient="spearman", level="system", ci="none", given="length")
    result = correlations(make_table(text="once upon"), options, shipped)
    assert (result.coefficient, result.level, result.unit, result.given) == ("spearman", "system", "systems", "length")
    assert (result.statistic, result.over) == ("Spearman's rho", "over system means")
    (dataset,) = result.datasets
    assert dataset.control == {"Relevance": ControlMade(ControlSource.SHIPPED, "half of them")}
    assert result.control_sources == (ControlSource.SHIPPED,)
    assert not dataset.pool
    bare = correlations(make_table(), options.__class__(ci="none"), shipped)
    assert bare.datasets[0].control["Relevance"].source is ControlSource.UNAVAILABLE
    assert correlations(make_table(), CorrelationOptions(ci="none")).control_sources == ()


def test_means_name_their_criteria_and_controls_are_marked(make_table, make_facts) -> None:
    table = make_table(judged=BOTH, rated=BOTH)
    table = dataclasses.replace(table, facts=(make_facts(judge="openai/m", control=True),))
    rows = correlations(table, CorrelationOptions(ci="none")).rows
    assert [row.averaged for row in rows if row.kind == "mean"] == [BOTH] * 2
    assert {row.subject.kind: row.is_control for row in rows} == {"ceiling": False, "judge": True}
    with pytest.raises(dataclasses.FrozenInstanceError):
        rows[0].stories = 0


def test_rows_are_of_the_candidates_that_other_tables_compare(make_table) -> None:
    table = make_table(judged=(*BOTH, "Surprise"), rated=BOTH, text="once")
    result = correlations(table, CorrelationOptions(ci="none"), shipped)
    (matrix,) = build(table)
    compared = [one.subject for one in candidates(matrix, None, shipped, Remarks(), ceiling=True)]
    assert [row.subject for row in result.rows if row.kind != "mean"] == compared


def test_a_paired_result_has_the_same_rows_and_its_differences_have_intervals(make_table) -> None:
    table = make_table(judged=BOTH, rated=BOTH, text="once")
    plain, paired = (correlations(table, OPTIONS, shipped, paired=both) for both in (False, True))
    assert plain.rows == paired.rows
    assert plain.notes == paired.notes
    (margin,), (without,) = margins(paired), margins(plain)
    assert margin.over[CEILING].low is not None
    assert without.value == margin.value
    assert without.over[CEILING] == replace(margin.over[CEILING], low=None, high=None, method=None)


@pytest.mark.parametrize("level", ["overall", "system"])
def test_one_row_alone_has_the_numbers_of_the_whole_table(hanna_table: RatingsTable, level: Level) -> None:
    """Its bars rest on the stories that some judge rated, so what the other judges rated still counts."""
    options = CorrelationOptions(level=level, resamples=20)
    whole = margins(correlations(hanna_table, options, Control(), paired=True))
    for row in (whole[0], whole[-1]):
        about = (row.dataset, row.run, row.judge, row.eval_prompt)
        (alone,) = margins(correlations(hanna_table, options, Control(), paired=True, about=about))
        assert replace(alone, rivals=row.rivals) == row


def test_a_reason_keeps_its_parts() -> None:
    inner = Reason("who gave which rating is not known", unavailable="one more person")
    assert str(inner) == "one more person unavailable: who gave which rating is not known"
    for criteria, of, who in ((BOTH, 2, "all 2 criteria"), (BOTH, 3, "Relevance"), (BOTH[:1], 1, "Relevance")):
        whole = Estimate.undefined(dataclasses.replace(inner, criteria=criteria, of=of))
        assert whole.reason == f"undefined for {who} ({inner})"
        assert (whole.why.fact, whole.why.unavailable) == (inner.fact, "one more person")
    bare = Estimate(0.5, 9, 0.1, 0.9).without_interval("one story only")
    assert (bare.value, bare.low, bare.reason) == (0.5, None, "no interval: one story only")
    assert bare.why.fact == "one story only"
    # A reason that was put in its place later is taken as it stands.
    assert dataclasses.replace(bare, reason="other").why == Reason("other")
