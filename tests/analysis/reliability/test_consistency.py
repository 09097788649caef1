"""Consistency over repeats, and people's agreement beside it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from judge.analysis.options.table_options import ConsistencyOptions
from judge.analysis.reliability import consistency
from judge.analysis.reliability.consistency import tables
from judge.ratings.ratings_table import RatingsTable
from judge.stats.agreement import icc
from judge.stats.agreement.crossed_effects import crossed_effects

icc_family = icc.family


def _value(frame, judge: str, form: str) -> float:
    return float(frame[(frame["judge"] == judge) & (frame["form"] == form)].iloc[0]["icc"])


def test_family_over_repeats_uses_the_rows_of_the_table(make_table) -> None:
    table = make_table(lost=lambda s, p, r: "truncated" if (s, p, r) == (2, 3, 1) else None)
    frame = consistency.consistency(table).frame
    judged = table.frame[table.frame["source"] == "judge"]
    wide = judged.pivot_table(index="story", columns="repeat", values="rating").to_numpy(dtype=float)
    expected = icc.family(wide)
    rows = frame[frame["judge"] == "openai/m"].set_index("form")
    for form in icc.FORMS:
        assert rows.loc[form, "icc"] == pytest.approx(expected[form].estimate.value)
        assert rows.loc[form, "low"] == pytest.approx(expected[form].estimate.low)
    assert set(rows["n"]) == {47}
    assert set(rows["incomplete"]) == {1}


def test_two_way_forms_for_people_need_the_same_known_raters(make_table) -> None:
    known = consistency.consistency(make_table()).frame
    assert known[known["judge"] == "people"]["icc"].notna().all()
    unknown = consistency.consistency(make_table(known_raters=False)).frame
    people = unknown[unknown["judge"] == "people"].set_index("form")
    assert people.loc[["ICC(1,1)", "ICC(1,k)"], "icc"].notna().all()
    assert people.loc[["ICC(2,1)", "ICC(2,k)", "ICC(3,1)", "ICC(3,k)"], "icc"].isna().all()
    assert "who gave which rating is not known" in people.loc["ICC(2,1)", "reason"]


def test_raters_who_did_not_rate_every_story_give_one_way_forms(make_table) -> None:
    table = make_table()
    frame = table.frame
    is_first = (frame["source"] == "rater") & (frame["story"] == "s0-0") & (frame["rater"] == "w0")
    frame.loc[is_first, "rater"] = "w9"
    people = consistency.consistency(table).frame.query("judge == 'people'").set_index("form")
    assert people.loc["ICC(1,1)", "icc"] == pytest.approx(
        _value(consistency.consistency(make_table()).frame, "people", "ICC(1,1)")
    )
    assert "not every rater rated every story" in people.loc["ICC(2,1)", "reason"]


def test_mans_people_agree_as_published_and_their_lists_are_sorted(mans_table: RatingsTable) -> None:
    # One-way ICC of MANS-ROC, computed independently of this program: ICC1 .771, ICC1k .944.
    frame = consistency.consistency(mans_table).frame
    assert round(_value(frame, "people", "ICC(1,1)"), 3) == 0.771
    assert round(_value(frame, "people", "ICC(1,k)"), 3) == 0.944
    two_way = frame[frame["form"] == "ICC(2,1)"].iloc[0]
    assert "stored in ascending order" in two_way["reason"]
    assert np.isnan(two_way["icc"])


def test_imported_means_have_no_repeats(hanna_table: RatingsTable) -> None:
    frame = consistency.consistency(hanna_table).frame
    judges = frame[frame["judge"] != "people"]
    assert judges["icc"].isna().all()
    assert set(judges["reason"]) == {consistency.IMPORTED}
    # ICC1 of the released human columns (RE CH EM SU EG CX), computed with pingouin 0.7, 11 systems.
    assert _value(frame[frame["criterion"] == "Coherence"], "people", "ICC(1,1)") < 0


def test_one_repeat_is_undefined(make_table) -> None:
    frame = consistency.consistency(make_table(repeats=1)).frame.query("judge == 'openai/m'")
    assert set(frame["reason"]) == {"undefined with fewer than 2 repeats"}


def test_frame_and_printed_tables_come_from_the_same_cells(make_table, monkeypatch) -> None:
    made = []
    monkeypatch.setattr(consistency.icc, "family", lambda *a, **k: made.append(a) or icc_family(*a, **k))
    found = consistency.consistency(make_table())
    assert len(made) == 2  # the judge's cell, and people's
    frame, (wide,), (full,) = found.frame, tables(found), tables(found, full=True)
    assert len(made) == 2
    assert [type(cell) for cell in found.cells] == [consistency.ConsistentCell] * 2
    for cell, row in zip(found.cells, wide.rows, strict=True):
        assert row["ICC(2,k)"] is cell.estimate("ICC(2,k)")
        assert row["ICC(2,k)"].value == _value(frame, cell.judge, "ICC(2,k)")
    assert [row["f"] for row in full.rows] == frame["f"].tolist()
    assert frame.attrs == {"signature": wide.signature, "notes": list(found.notes)}
    assert found.signature == full.signature


@pytest.mark.filterwarnings("ignore:The inplace keyword")
def test_pingouin_prints_its_own_table_with_the_same_values(make_table) -> None:
    pytest.importorskip("pingouin")
    table = make_table()
    printed = tables(consistency.consistency(table, ConsistencyOptions(engine="pingouin")))
    assert printed[0].title.endswith("openai/m, ep1, Relevance")
    assert "|engine:pingouin|" in printed[0].signature
    theirs = {row["Type"]: row["ICC"] for row in printed[0].rows}
    frame = consistency.consistency(table).frame
    assert theirs["ICC(A,k)"] == pytest.approx(_value(frame, "openai/m", "ICC(2,k)"), abs=1e-9)
    assert printed[1].title.endswith("people, Relevance")


def _workers(make_table, raters: int, leniency: float) -> RatingsTable:
    """The small table with people's ratings by `raters` workers, three a story, more or less lenient."""
    table = make_table(prompts=40, noise=0.5)
    rng = np.random.default_rng(3)
    people = table.frame["source"] == "rater"
    stories = table.frame.loc[people, "story"].nunique()
    who = np.concatenate([rng.choice(raters, 3, replace=False) for _ in range(stories)])
    table.frame.loc[people, "rater"] = [f"w{w}" for w in who]
    table.frame.loc[people, "rating"] += rng.normal(0, leniency, raters)[who]
    return table


def test_workers_who_did_not_all_rate_every_story_get_crossed_random_effects(make_table) -> None:
    table = _workers(make_table, 12, 1.0)
    people = consistency.consistency(table).frame.query("judge == 'people'").set_index("form")
    rows = table.frame[table.frame["source"] == "rater"]
    story, rater = (pd.factorize(rows[name])[0] for name in ("story", "rater"))
    expected = crossed_effects(story, rater, rows["rating"].to_numpy(dtype=float), k=3)
    for form, estimate in zip(consistency.REML, (expected.single, expected.average), strict=True):
        assert people.loc[form, "icc"] == pytest.approx(estimate.value, abs=1e-6)
        assert people.loc[form, "low"] == pytest.approx(estimate.low, abs=1e-4)
        assert people.loc[form, "n"] == 160
    assert people.loc["ICC(A,1) REML", "icc"] > people.loc["ICC(1,1)", "icc"] - 0.05
    (printed,) = tables(consistency.consistency(table))
    assert [column.key for column in printed.columns if column.key in consistency.REML] == list(consistency.REML)
    assert any("tells the leniency of 12 raters from noise" in note for note in printed.notes)


def test_reml_forms_are_printed_only_where_they_are_needed(make_table) -> None:
    for table in (make_table(), make_table(known_raters=False)):
        (printed,) = tables(consistency.consistency(table))
        assert not [column for column in printed.columns if column.key in consistency.REML]
        assert not set(consistency.consistency(table).frame["form"]) & set(consistency.REML)


def test_a_variance_of_0_between_stories_is_said(make_table) -> None:
    table = _workers(make_table, 8, 0.5)
    people = table.frame["source"] == "rater"
    # Each story's mean taken out: its raters differ, stories do not.
    table.frame.loc[people, "rating"] -= table.frame[people].groupby("story")["rating"].transform("mean")
    (printed,) = tables(consistency.consistency(table))
    assert printed.rows[-1]["ICC(A,1) REML"].value == 0
    assert any(note.startswith("Relevance, ICC(A,.) REML: the variance between stories") for note in printed.notes)


@pytest.mark.parametrize("shared", [False, True])
def test_a_scale_turned_round_is_named_and_no_reliability_printed(make_table, shared: bool) -> None:
    table = make_table(systems=6, prompts=20)
    frame = table.frame
    turned = (frame["source"] == "rater") & (frame["rater"] == "w2")
    frame.loc[turned, "rating"] = 6 - frame.loc[turned, "rating"]
    if shared:  # each story has two of the three
        number = frame["story_prompt"].str.extract(r"(\d+)")[0].astype(int) % 3
        gone = (frame["source"] == "rater") & (frame["rater"] == "w" + number.astype(str))
        table = dataclasses.replace(table, frame=frame[~gone])
    rows = consistency.consistency(table).frame.query("judge == 'people' and form == 'ICC(1,k)'")
    (row,) = rows.to_dict("records")
    assert np.isnan(row["icc"])
    assert "and a reliability is not below 0; the scale of w2 (r = -0." in row["reason"]
    (printed,) = tables(consistency.consistency(table))
    assert any(": ratings by w2 (r = -0." in note and "run the other way?" in note for note in printed.notes)
    assert not any("run the other way" in note for note in tables(consistency.consistency(make_table()))[0].notes)
