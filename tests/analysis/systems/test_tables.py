"""What people see of systems: few tables, the right ones first, and everything for machines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from judge.analysis import systems as standings
from judge.analysis.inputs.selection import narrowed
from judge.analysis.options.selection import Selection
from judge.analysis.options.table_options import SystemsOptions
from judge.analysis.systems import Separated, systems
from judge.analysis.systems_tables import tables
from judge.base.errors import SpecError
from judge.base.printing.tables import Table, render
from judge.base.printing.text_layout import column_keys
from judge.ratings.ratings_table import RatingsTable

FAST = SystemsOptions(resamples=50)


def _titles(found: list[Table]) -> list[str]:
    return [one.title for one in found]


def test_twenty_judges_do_not_drown_people(hanna_table: RatingsTable) -> None:
    found = tables(systems(hanna_table, FAST))
    assert _titles(found) == ["Mean rating, hanna: people", "Do judges tell the same systems apart as people? hanna"]
    people, overview = found
    assert [row["system"] for row in people.rows][:3] == ["Human", "GPT-2 (tag)", "GPT-2"]
    assert [row["group"] for row in people.rows] == ["a", "b", "b", "bc", "bc", "cd", "cd", "cd", "d", "e", "f"]
    assert len(overview.rows) == 21
    assert any("choose with judge and eval_prompt" in note for note in overview.notes)
    part = narrowed(hanna_table, Selection(criteria=("Empathy", "Surprise"), judges=("Beluga-13B", "ChatGPT")))
    assert len(tables(systems(part, FAST), full=True)) == 1 + 8 + 1


def test_judges_beside_people_count_pairs_of_systems(hanna_table: RatingsTable) -> None:
    overview = tables(systems(narrowed(hanna_table, Selection(judges=("ChatGPT",), eval_prompts=("ep1",))), FAST))[-1]
    (row,) = overview.rows
    assert row["people"] == row["same"] + row["silent"] + row["reversed"] == 37
    assert row["pairs"] == 55
    assert row["alone"] <= row["pairs"] - row["people"]
    # The study's people give 2.7 on average where ChatGPT gives 1.7.
    assert round(row["level"].value, 2) == -1.03


def test_a_chosen_judge_has_its_own_table(hanna_table: RatingsTable) -> None:
    part = narrowed(hanna_table, Selection(judges=("beluga-13b",), eval_prompts=("ep1",)))
    found = tables(systems(part, FAST))
    assert _titles(found)[1] == "Mean rating, hanna: Beluga-13B, ep1"
    assert "|ep:ep1|judge:Beluga-13B|" in found[1].signature
    text = render(found[1], "table")
    assert "3.37 ±0.15" in text
    assert "group (average)" in text


def test_one_criterion_sets_judges_side_by_side(hanna_table: RatingsTable) -> None:
    part = narrowed(hanna_table, Selection(criteria=("coherence",), judges=("Beluga-13B",)))
    (means, _) = tables(systems(part, FAST))
    assert means.title == "Mean rating, hanna: Coherence, by judge"
    assert [column.title for column in means.columns] == [
        *("system", "stories", "people", "Beluga-13B, ep1", "Beluga-13B, ep2", "Beluga-13B, ep3", "Beluga-13B, ep4"),
        "group (people)",
    ]
    ranks = tables(systems(part, FAST), rank=True)[0]
    assert ranks.rows[0]["people"] == "1 [1, 1] a"
    assert (ranks.rows[0]["set"], ranks.rows[0]["best"]) == ("1-1", 1.0)


def test_many_judges_by_criterion_make_several_tables(hanna_table: RatingsTable) -> None:
    part = narrowed(hanna_table, Selection(criteria=("Empathy",), judges=("Beluga-13B", "ChatGPT")))
    found = tables(systems(part, FAST), by="criterion", full=True)
    assert [len(one.columns) for one in found[:2]] == [2 + 1 + 6 + 1, 2 + 1 + 2 + 1]


def test_differences_are_printed_best_systems_first(make_table: Callable[..., RatingsTable]) -> None:
    table = make_table(prompts=30, judged=("Relevance", "Coherence"), rated=("Relevance", "Coherence"))
    (found,) = tables(systems(table, FAST), differences=True)
    assert {row["criterion"] for row in found.rows} == {"average"}
    assert (found.rows[0]["system"], found.rows[0]["against"]) == ("system 3", "system 2")
    assert "all criteria: full=True" in found.notes[-1]
    (full,) = tables(systems(table, FAST), differences=True, full=True)
    assert {row["criterion"] for row in full.rows} == {"Relevance", "Coherence", "average"}
    assert any("<0.0001" in line for line in render(full, "table").splitlines())


def test_long_tables_hold_every_row(make_table: Callable[..., RatingsTable]) -> None:
    (long,) = tables(systems(make_table(), FAST), long=True)
    assert len(long.rows) == 8
    assert set(long.rows[0]) >= {"mean", "low", "high", "rank_low", "set_high", "group", "unrated"}
    (pairs,) = tables(systems(make_table(), FAST), long=True, differences=True)
    assert len(pairs.rows) == 12
    assert isinstance(pairs.rows[0]["p"], float)


def test_loss_is_noted_and_stories_are_counted(make_table: Callable[..., RatingsTable]) -> None:
    table = make_table(repeats=1, lost=lambda *at: "refused" if at == (0, 0, 0) else None)
    means = tables(systems(table, FAST))[0]
    assert {row["system"]: row["stories"] for row in means.rows}["system 0"] == "11-12"
    notes = tables(systems(table, FAST))[-1].notes
    assert any("1 ratings of stories are missing" in note for note in notes)


def test_notes_say_what_was_done(hanna_table: RatingsTable, make_table: Callable[..., RatingsTable]) -> None:
    part = narrowed(hanna_table, Selection(criteria=("Empathy",), judges=("ChatGPT",)))
    notes = "\n".join(tables(systems(part, SystemsOptions(mean_interval="as-published", resamples=5)))[-1].notes)
    assert "as if independent, as the HANNA study printed it" in notes
    assert "imported ratings are means of repeats" in notes
    nobody = tables(systems(make_table(rated=()), FAST))
    assert _titles(nobody) == ["Mean rating, toy: openai/m, ep1"]
    assert "nobody rated the stories of toy: judges only" in nobody[-1].notes


def test_a_system_without_a_rating_is_undefined(make_table: Callable[..., RatingsTable]) -> None:
    table = make_table(rated=(), lost=lambda *at: "refused" if at[0] == 1 else None)
    assert "undefined" in render(tables(systems(table, FAST))[0], "table")
    ranks = tables(systems(table, FAST), rank=True)[0]
    assert ranks.rows[-1]["openai/m, ep1"] == "no rating"
    assert np.isnan(ranks.rows[-1]["best"])


def test_names_that_are_not_there_get_a_sentence(make_table: Callable[..., RatingsTable]) -> None:
    table = make_table()
    with pytest.raises(SpecError, match='by="system" is not known'):
        tables(systems(table, FAST), by="system")
    with pytest.raises(SpecError, match="criterion=\"Relevanz\" is not known; did you mean 'Relevance'"):
        narrowed(table, Selection(criteria=("Relevanz",)))
    with pytest.raises(SpecError, match='judge="gpt" is not known'):
        narrowed(table, Selection(judges=("gpt",)))


def test_a_selection_narrows_rows_and_facts(make_table: Callable[..., RatingsTable], make_facts: Callable) -> None:
    table = make_table(judged=("Relevance", "Coherence"))
    two = replace(table, facts=(*table.facts, make_facts(run="other", judge="openai/other")))
    part = narrowed(two, Selection(criteria=("coherence",), judges=("OPENAI/M",)))
    assert set(part.frame["criterion"]) == {"Coherence"}
    assert [fact.judge for fact in part.facts] == ["openai/m"]
    assert [c.name for c in part.facts[0].criteria] == ["Coherence"]
    more = table.frame.assign(criterion=lambda f: f["criterion"].where(f["source"] == "judge", "Empathy"))
    with pytest.raises(SpecError, match="nothing in these runs is at once ep1, Empathy"):
        narrowed(replace(table, frame=more), Selection(criteria=("Empathy",), eval_prompts=("ep1",)))


def test_frames_and_tables_come_from_the_same_standings(
    make_table: Callable[..., RatingsTable], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[object] = []
    draw = standings.bootstrap.draw
    monkeypatch.setattr(standings.bootstrap, "draw", lambda *a: drawn.append(a) or draw(*a))
    found = systems(make_table(), FAST)
    assert {type(row) for row in found.separation.rows} == {Separated}
    (means, overview), (pairs,) = tables(found), tables(found, differences=True)
    (long,) = tables(found, long=True)
    assert len(drawn) == 1
    people, judge = found.standings
    order = [people.source.matrix.systems.index(row["system"]) for row in means.rows]
    assert [row["people"] for row in means.rows] == [people.mean[s] for s in order]
    assert [row["mean"] for row in long.rows] == [one.value for one in (*people.mean, *judge.mean)]
    assert found.frame["mean"].tolist() == [row["mean"] for row in long.rows]
    assert found.frame.attrs["signature"] == means.signature == long.signature
    assert sorted(row["difference"].value for row in pairs.rows) == sorted(found.differences["difference"])
    assert found.differences.attrs["signature"] == pairs.signature
    assert found.separation.frame["same"].tolist() == [row["same"] for row in overview.rows]


def test_keys_of_columns_are_what_people_see_and_never_two_alike() -> None:
    assert column_keys(["Relevance", "system", "a, ep1", "a, ep1"], ("system",)) == [
        *("Relevance", "system (2)", "a, ep1", "a, ep1 (2)")
    ]
