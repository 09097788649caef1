"""Diagnostics on ratings tables: what is tested against what, what is undefined, and how it is printed."""

from __future__ import annotations

import numpy as np
import pytest

from judge.analysis.diagnose import DIAGNOSTICS, diagnose, tables
from judge.analysis.options import DiagnoseOptions
from judge.errors import SpecError
from judge.ratings_table import RatingsTable


def test_the_released_judges_of_hanna(hanna_table: RatingsTable) -> None:
    options = DiagnoseOptions(drop_systems=("Human",))
    rows = diagnose(hanna_table, options).set_index(["judge", "eval_prompt", "criterion", "diagnostic"])
    # Means over the ten machine systems in the released score file: ChatGPT 1.52 with Eval-Prompt 1, people 2.6.
    frame = hanna_table.frame[hanna_table.frame["system"] != "Human"]
    judged = frame[(frame["judge"] == "ChatGPT") & (frame["eval_prompt"] == "ep1")]
    people = frame[frame["source"] == "rater"]
    for criterion in ("Coherence", "Complexity"):
        row = rows.loc[("ChatGPT", "ep1", criterion, "leniency")]
        means = [part[part["criterion"] == criterion]["rating"].mean() for part in (judged, people)]
        assert row["value"] == pytest.approx(means[0] - means[1])
        assert row["verdict"] == "rates lower than people"
        assert row["story_prompts"] == 96
    assert rows.loc[("ChatGPT", "ep1", "Coherence", "stuck"), "reason"] == "imported means are not single ratings"
    # Raters' columns are positions there: for Coherence the three disagree more within than between stories.
    assert rows.loc[("ChatGPT", "ep1", "Coherence", "compression"), "value"] is None or np.isnan(
        rows.loc[("ChatGPT", "ep1", "Coherence", "compression"), "value"]
    )
    assert "no quality to compare with" in rows.loc[("ChatGPT", "ep1", "Coherence", "compression"), "reason"]


def test_every_diagnostic_stands_in_the_long_table(make_table) -> None:
    table = make_table(prompts=30, judged=("Relevance", "Empathy"), rated=("Relevance", "Empathy"))
    rows = diagnose(table)
    assert set(rows["diagnostic"]) == set(DIAGNOSTICS)
    assert set(rows["verdict"]) <= {
        "-",
        "undefined",
        *(words for one in DIAGNOSTICS.values() for words in (one.above, one.below) if words),
    } | {text for text in rows["verdict"] if "far too often" in text}
    real = rows[rows["p"].notna()]
    assert (real["p_adjusted"] >= real["p"]).all()
    assert (real["detectable"] > 0).all()
    assert rows.loc[rows["p"].isna(), "reason"].notna().all()


def test_own_systems_are_named_or_known_by_name(make_table) -> None:
    table = make_table(prompts=30)
    assert "--own SYSTEM" in diagnose(table).set_index("diagnostic").loc["self-preference", "reason"]
    named = diagnose(table, DiagnoseOptions(own=("system 1",))).set_index("diagnostic").loc["self-preference"]
    assert named["p"] is not None
    with pytest.raises(SpecError, match="--own 'system 9' is not known"):
        diagnose(table, DiagnoseOptions(own=("system 9",)))
    frame = table.frame.replace({"system 1": "m-model", "openai/m": "openai/M-Model-7b"})
    renamed = diagnose(RatingsTable(frame, table.stories, table.facts)).set_index("diagnostic").loc["self-preference"]
    assert renamed["value"] == pytest.approx(named["value"])


def test_nothing_lost_and_unknown_lengths_say_so(make_table) -> None:
    table = make_table(prompts=30)
    rows = diagnose(RatingsTable(table.frame, table.stories.iloc[:0], table.facts)).set_index("diagnostic")
    assert rows.loc["loss", "reason"] == "nothing was lost"
    assert rows.loc["length", "reason"] == "the stories' lengths are not known"


def test_the_printed_table_lists_findings_and_counts_the_rest(make_table) -> None:
    table = make_table(prompts=30)
    frame = table.frame.copy()
    frame.loc[frame["source"] == "judge", "rating"] += 1.0
    (printed,) = tables(RatingsTable(frame, table.stories, table.facts))
    assert "rates higher than people" in [row["verdict"] for row in printed.rows]
    adjusted = [row["adjusted"] for row in printed.rows]
    (note,) = [note for note in printed.notes if "Holm's adjustment" in note]
    assert f" {sum(p <= 0.05 for p in adjusted)} find" in note
    assert f"; {len(printed.rows)} find" in note
    (full,) = tables(RatingsTable(frame, table.stories, table.facts), full=True)
    assert len(full.rows) > len(printed.rows)
