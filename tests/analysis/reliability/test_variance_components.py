"""Variance components and D-study of a run: the numbers of the statistics, and what is printed."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from judge.analysis.options.table_options import ComponentsOptions
from judge.analysis.reliability import variance_components as analysis
from judge.analysis.reliability.d_study import PlanRow
from judge.analysis.reliability.variance_components import components, tables
from judge.base.errors import DataError, SpecError
from judge.base.printing.tables import render
from judge.ratings.ratings_table import RatingsTable
from judge.stats.agreement.d_study import d_study
from judge.stats.agreement.variance_components import Facet, variance_components

TERMS = ["system", "story-prompt", "system x story-prompt", "repeat (same query again)"]


def _direct(table: RatingsTable):
    judged = table.frame[table.frame["source"] == "judge"]
    wide = judged.pivot_table(index=["system", "story_prompt"], columns="repeat", values="rating", sort=False)
    facets = [Facet("system"), Facet("story-prompt"), Facet("repeat", ("system", "story-prompt"))]
    return variance_components(wide.to_numpy(dtype=float).reshape(4, 12, 3), facets, rng=np.random.default_rng(1))


def test_the_frame_holds_the_numbers_of_the_statistics(make_table) -> None:
    table = make_table()
    frame, expected = components(table).frame, _direct(table)
    assert frame["term"].tolist() == TERMS
    assert frame["variance"].tolist() == pytest.approx([c.variance.value for c in expected.components])
    assert frame["low"].tolist() == pytest.approx([c.variance.low for c in expected.components])
    assert frame["share"].sum() == pytest.approx(1)
    assert set(frame["ratings"]) == {144}
    assert frame["df"].tolist() == [3, 11, 33, 96]


def test_frames_and_printed_tables_come_from_the_same_studies(make_table, monkeypatch) -> None:
    made = []
    monkeypatch.setattr(analysis, "variance_components", lambda *a, **k: made.append(a) or variance_components(*a, **k))
    found = components(make_table(judged=("Relevance", "Coherence")))
    frame, plans, (shares, planned) = found.frame, found.plans, tables(found)
    assert len(made) == 2  # once a criterion
    (dataset,) = found.datasets
    assert {type(row) for study in dataset.studies for row in study.plans} == {PlanRow}
    terms = [(study.criterion, term) for study in dataset.studies for term in study.terms]
    assert {type(term) for _, term in terms} == {analysis.Term}
    assert frame["share"].tolist() == [term.share.value for _, term in terms]
    assert {id(row[study]) for row in shares.rows for study in ("Relevance", "Coherence")} == {
        id(term.share) for _, term in terms
    }
    assert plans["relative"].tolist() == [row["relative"].value for row in planned.rows]
    assert frame.attrs == plans.attrs == {"signature": shares.signature, "notes": list(found.notes)}


def test_plans_answer_how_many(make_table) -> None:
    table = make_table()
    expected = _direct(table)
    plans = components(table, ComponentsOptions(target=0.9)).plans.set_index(["score", "plan"])
    run = d_study(expected, ["system"], {"story-prompt": 12, "repeat": 3})
    assert plans.loc[("system", "as run"), "relative"] == pytest.approx(run.relative.value)
    assert plans.loc[("system", "as run"), "relative_low"] == pytest.approx(run.relative.low)
    assert plans.loc[("system", "as run"), "calls"] == 36
    alone = plans.loc[("story", "repeats alone")]
    number = int(alone["repeat"])
    story = ["system", "story-prompt"]
    enough, fewer = (d_study(expected, story, {"repeat": n}).relative.value for n in (number, number - 1))
    assert fewer < 0.9 <= enough
    assert alone["reached"] == "yes"
    assert plans.loc[("system", "fewest calls"), "calls"] <= plans.loc[("system", "story-prompts alone"), "calls"]


def test_an_unreachable_target_gives_the_limit(make_table) -> None:
    # One story-prompt-by-system variance that no number of repeats averages away.
    table = make_table(noise=0.1)
    plans = components(table, ComponentsOptions(target=0.999)).plans.set_index(["score", "plan"])
    row = plans.loc[("system", "repeats alone")]
    assert row["reached"] == "no"
    assert np.isnan(row["repeat"])
    limit = d_study(_direct(table), ["system"], {"story-prompt": 12, "repeat": float("inf")}).relative.value
    assert row["relative"] == pytest.approx(limit)
    (_, printed) = tables(components(table, ComponentsOptions(target=0.999)))
    assert any(
        line.split()[:2] == ["Relevance", "system"] and "∞" in line for line in render(printed, "table").splitlines()
    )


def test_printed_tables_say_what_they_rest_on(make_table) -> None:
    table = make_table(lost=lambda *at: "refused" if at[:2] == (2, 7) else None)
    first, second = tables(components(table))
    assert [row["term"] for row in first.rows] == TERMS
    text = render(first, "table")
    assert "design: 4 systems x 12 story-prompts x 1 Eval-Prompt x 1 judge x 3 repeats" in text
    assert "used: 141 of 144 answers requested, all that have a rating, by Henderson's Method I" in text
    assert "|target:0.8|seed:1|ci:generalized/2000|components:henderson-1|" in first.signature
    assert "|ci:generalized/2000|components:anova|" in tables(components(make_table()))[0].signature
    assert second.signature == first.signature
    assert second.title == "Levels of each facet needed for a reliability of 0.8 (D-study)"
    assert "reaches 0.8" in render(second, "md")
    assert "relative_low" in render(second, "csv")


def test_several_criteria_stand_side_by_side_and_in_full_one_below_the_other(make_table) -> None:
    table = make_table(judged=("Relevance", "Coherence"))
    short, _ = tables(components(table))
    assert [row["term"] for row in short.rows] == TERMS
    frame = components(table).frame
    for row in short.rows:
        for criterion in ("Relevance", "Coherence"):
            share = frame.query("criterion == @criterion").set_index("term").loc[row["term"], "share"]
            assert row[criterion].value == pytest.approx(share)
            assert row[criterion].low <= row[criterion].value <= row[criterion].high
    full, _ = tables(components(table), full=True)
    assert [(row["criterion"], row["term"]) for row in full.rows] == list(
        zip(frame["criterion"], frame["term"], strict=True)
    )


def test_negative_estimates_are_marked(make_table) -> None:
    table = make_table(seed=4)
    judged = table.frame["source"] == "judge"
    rng = np.random.default_rng(0)
    table.frame.loc[judged, "rating"] = rng.integers(1, 6, int(judged.sum())).astype(float)  # nothing but noise
    (first, _) = tables(components(table))
    marked = [row for row in first.rows if row["negative"]]
    assert marked
    assert all(row["variance"].value < 0 and row["share"].value == 0 for row in marked)
    said = f"{len(marked)} of these are estimated below 0, "
    assert any(said in note and note.endswith("and counted as 0") for note in first.notes)
    both = make_table(seed=4, judged=("Relevance", "Coherence"))
    both.frame.loc[both.frame["source"] == "judge", "rating"] = rng.integers(1, 6, 288).astype(float)
    (shares, _) = tables(components(both))  # the table of shares has no column that marks them, but the note
    assert any("of these are estimated below 0, " in note for note in shares.notes)


def test_systems_that_do_not_differ_get_no_plan(make_table) -> None:
    table = make_table(prompts=30)
    judged = table.frame["source"] == "judge"
    spread = table.frame.loc[judged].groupby("system")["rating"].transform("mean")
    table.frame.loc[judged, "rating"] -= spread - 3
    plans = components(table).plans
    assert plans.query("score == 'system'")["plan"].tolist() == ["as run"]
    assert plans.query("score == 'system'")["reached"].tolist() == ["no: variance 0"]
    assert len(plans.query("score == 'story'")) > 1


def test_the_control_is_left_out_beside_other_judges(make_table, make_facts) -> None:
    table = make_table()
    rows = table.frame[table.frame["source"] == "judge"].assign(judge="surface", rating=3.0)
    facts = (*table.facts, make_facts(judge="surface", control=True))
    both = dataclasses.replace(table, frame=pd.concat([table.frame, rows]), facts=facts)
    alone = components(table).frame
    pd.testing.assert_frame_equal(components(both).frame, alone)
    assert "the control judge is left out: it is not a sample of what judges do" in tables(components(both))[0].notes
    only = dataclasses.replace(both, frame=both.frame[both.frame["judge"] != "openai/m"])
    assert components(only).frame["share"].isna().all()  # it is its own table where nothing else is there


def test_a_criterion_that_cannot_be_told_becomes_a_note(make_table) -> None:
    table = make_table(judged=("Relevance", "Coherence"))
    judged = table.frame["source"] == "judge"
    lost = judged & (table.frame["criterion"] == "Coherence") & (table.frame["story_prompt"] != "prompt 3")
    table.frame.loc[lost, "rating"] = np.nan
    assert set(components(table).frame["criterion"]) == {"Relevance"}
    notes = tables(components(table))[0].notes
    assert any(note.startswith("no components: Coherence: no two story-prompts have a rating") for note in notes)
    table.frame.loc[judged & (table.frame["story_prompt"] != "prompt 3"), "rating"] = np.nan
    with pytest.raises(DataError, match="Relevance: no two story-prompts have a rating"):
        tables(components(table))


def test_one_answer_in_fifty_lost_costs_no_other_answer(make_table) -> None:
    lost = np.random.default_rng(3).random((10, 20, 3)) < 0.02
    table = make_table(systems=10, prompts=20, lost=lambda *at: "no_rating" if lost[at] else None)
    frame, whole = components(table).frame, components(make_table(systems=10, prompts=20)).frame
    assert set(frame["ratings"]) == {600 - lost.sum()}
    assert set(frame["asked"]) == {600}
    assert (set(frame["method"]), set(whole["method"])) == ({"henderson-1"}, {"anova"})
    assert frame["share"].tolist() == pytest.approx(whole["share"].tolist(), abs=0.02)
    plans = components(table).plans.set_index(["score", "plan"])
    assert plans.loc[("system", "as run"), "repeat"] == 3
    notes = tables(components(table))[1].notes
    assert any("'as run' counts what has ratings" in note for note in notes)


def test_degrees_of_freedom_that_differ_between_criteria_are_a_range(make_table) -> None:
    table = make_table(judged=("Relevance", "Coherence"))
    gone = table.frame.query("source == 'judge' and criterion == 'Coherence' and story == 's1-1'").index
    table.frame.loc[gone, "rating"] = np.nan
    rows = {row["term"]: row["df"] for row in tables(components(table))[0].rows}
    assert rows["system"] == 3
    assert rows["system x story-prompt"] == "32-33"


def test_five_published_judges_as_a_facet(hanna_table: RatingsTable) -> None:
    frame = hanna_table.frame
    impossible = (frame["source"] == "judge") & (frame["rating"] < 1)  # failed parses averaged in by the study
    frame = frame[(frame["judge"] != "length") & ~impossible & (frame["criterion"] == "Complexity")]
    found = components(dataclasses.replace(hanna_table, frame=frame)).frame.set_index("term")
    assert len(found) == 15
    last = "system x story-prompt x Eval-Prompt x judge, and all else"
    assert found.index[-1] == last
    # Which judge is asked matters more than which Eval-Prompt, and than which story-prompt the story was written for.
    assert found.loc["judge", "share"] > 5 * found.loc["Eval-Prompt", "share"] > 0
    assert found.loc["judge", "share"] > 5 * found.loc["story-prompt", "share"]
    assert found["share"].sum() == pytest.approx(1)
    assert set(found["ratings"]) == {21024}  # of 11 x 96 x 4 x 5; the balanced part would have had a third of them


def test_a_target_outside_0_and_1_is_refused() -> None:
    with pytest.raises(SpecError, match=r"target=1\.5 is not a reliability"):
        ComponentsOptions(target=1.5)


def test_a_judge_whose_scale_is_turned_round_leaves_shares_and_plans_undefined(make_table, make_facts) -> None:
    table = make_table(systems=6, prompts=20, repeats=2)
    judged = table.frame[table.frame["source"] == "judge"]
    rng = np.random.default_rng(1)
    noisy = [np.clip(judged["rating"] + rng.integers(-1, 2, len(judged)), 1, 5) for _ in range(2)]
    more = [judged.assign(judge="other", rating=noisy[0]), judged.assign(judge="turned", rating=6 - noisy[1])]
    facts = (*table.facts, *(make_facts(judge=name) for name in ("other", "turned")))
    both = dataclasses.replace(table, frame=pd.concat([table.frame, more[1]], ignore_index=True), facts=facts)
    (first, plans) = tables(components(both), full=True)
    rows = {row["term"]: row for row in first.rows}
    variance = rows["system x story-prompt"]["variance"]
    assert variance.value is None
    assert "impossible for a variance" in str(variance.reason)
    assert all(row["share"].value is None for row in first.rows)
    assert any("run against each other (r = -0." in note for note in first.notes)
    assert all(row["relative"].value is None and row["se"] is None for row in plans.rows)
    assert {row["plan"] for row in plans.rows} == {"as run"}
    assert not any("counted as 0" in note for note in first.notes)
    frame = components(both).frame
    assert frame["share"].isna().all()
    three = dataclasses.replace(both, frame=pd.concat([both.frame, more[0]], ignore_index=True))
    notes = tables(components(three))[0].notes
    assert any(note.startswith("ratings by turned (r = -0.") and "other judges" in note for note in notes)
