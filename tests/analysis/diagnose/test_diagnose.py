"""Diagnostics on ratings tables: what is tested against what, what is undefined, and how it is printed."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from judge.analysis.diagnose import DIAGNOSTICS, Finding, diagnose, tables
from judge.analysis.inputs.selection import narrowed
from judge.analysis.options.selection import Selection
from judge.analysis.options.table_options import DiagnoseOptions
from judge.base.errors import SpecError
from judge.ratings.ratings_table import RatingsTable
from tests.benchmarks.simulations.diagnostics import JUDGES, study_of
from tests.benchmarks.simulations.worlds import Studies, World


def test_the_released_judges_of_hanna(hanna_table: RatingsTable) -> None:
    options = DiagnoseOptions(drop_systems=("Human",))
    part = narrowed(hanna_table, Selection(judges=("ChatGPT",), eval_prompts=("ep1",)))
    rows = diagnose(part, options).frame.set_index(["judge", "eval_prompt", "criterion", "diagnostic"])
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
    assert "means of repeats" in rows.loc[("ChatGPT", "ep1", "Coherence", "compression"), "reason"]
    # Raters' columns are positions there: for Coherence the three disagree more within than between stories.
    assert rows.loc[("ChatGPT", "ep1", "Coherence", "length"), "value"] is None or np.isnan(
        rows.loc[("ChatGPT", "ep1", "Coherence", "length"), "value"]
    )
    assert "stories' quality is not known" in rows.loc[("ChatGPT", "ep1", "Coherence", "length"), "reason"]


def test_every_diagnostic_stands_in_the_long_table(make_table) -> None:
    table = make_table(prompts=30, judged=("Relevance", "Empathy"), rated=("Relevance", "Empathy"))
    rows = diagnose(table).frame
    assert set(rows["diagnostic"]) == set(DIAGNOSTICS)
    assert set(rows["verdict"]) <= {
        "-",
        "undefined",
        *(words for one in DIAGNOSTICS.values() for words in (one.above, one.below) if words),
    } | {text for text in rows["verdict"] if "far more often" in text}
    real = rows[rows["p"].notna()]
    assert (real["p_adjusted"] >= real["p"]).all()
    assert (real["detectable"] > 0).all()
    assert rows.loc[rows["p"].isna(), "reason"].notna().all()


def test_own_systems_are_named_or_known_by_name(make_table) -> None:
    table = make_table(prompts=30)
    assert 'own="SYSTEM"' in diagnose(table).frame.set_index("diagnostic").loc["self-preference", "reason"]
    named = diagnose(table, DiagnoseOptions(own=("system 1",))).frame.set_index("diagnostic").loc["self-preference"]
    assert named["p"] is not None
    with pytest.raises(SpecError, match='own="system 9" is not known'):
        diagnose(table, DiagnoseOptions(own=("system 9",)))
    frame = table.frame.replace({"system 1": "m-model", "openai/m": "openai/M-Model-7b"})
    renamed = (
        diagnose(RatingsTable(frame, table.stories, table.facts)).frame.set_index("diagnostic").loc["self-preference"]
    )
    assert renamed["value"] == pytest.approx(named["value"])


def test_nothing_lost_and_unknown_lengths_say_so(make_table) -> None:
    table = make_table(prompts=30)
    rows = diagnose(RatingsTable(table.frame, table.stories.iloc[:0], table.facts)).frame.set_index("diagnostic")
    assert rows.loc["loss", "reason"] == "nothing was lost"
    assert rows.loc["length", "reason"] == "the stories' lengths are not known, or all the same"


def test_the_printed_table_lists_findings_and_counts_the_rest(make_table) -> None:
    table = make_table(prompts=30)
    frame = table.frame.copy()
    frame.loc[frame["source"] == "judge", "rating"] += 1.0
    result = diagnose(RatingsTable(frame, table.stories, table.facts))
    (printed,) = tables(result)
    assert "rates higher than people" in [row["verdict"] for row in printed.rows]
    adjusted = [row["adjusted"] for row in printed.rows]
    (note,) = [note for note in printed.notes if "Holm's adjustment" in note]
    significant = sum(p <= 0.05 for p in adjusted)
    assert f" {significant} {'is' if significant == 1 else 'are'} significant at alpha" in note
    assert f"; {len(printed.rows)} {'is' if len(printed.rows) == 1 else 'are'} significant without" in note
    (full,) = tables(result, full=True)
    assert len(full.rows) > len(printed.rows)
    assert all(isinstance(one, Finding) for one in result.findings)
    assert [row["value"].value for row in full.rows] == [one.test.estimate.value for one in result.findings]
    assert [row["verdict"] for row in full.rows] == list(result.frame["verdict"])
    assert result.frame.attrs["signature"] == full.signature


STUDIES = 16
MIDDLE = World(criteria=3, own_scales=0.0)
"""People use the whole scale."""


@lru_cache
def _counts(world: World, judge: str, repeats: int) -> dict[str, tuple[int, int]]:
    """Diagnostic -> (studies that found something, studies with a test) over a fixed set of simulated studies."""
    kind = next(one for one in JUDGES if one.name == judge)
    counted: dict[str, tuple[int, int]] = {}
    for seed in range(STUDIES):
        for name, found in study_of(seed, world, kind, repeats).items():
            hits, tests = counted.get(name, (0, 0))
            counted[name] = (hits + int(found or 0), tests + (found is not None))
    return counted


@pytest.mark.parametrize(
    ("judge", "diagnostic"),
    [("compressed .7", "compression"), ("haloed .6", "halo"), ("haloed .6", "halo, in criteria")],
)
def test_one_repeat_is_enough_to_find_a_planted_fault(judge: str, diagnostic: str) -> None:
    """With one repeat nothing was found before: the judge's error stood against people's ratings without error."""
    hits, tests = _counts(MIDDLE, judge, 1)[diagnostic]
    assert tests == STUDIES
    assert hits / tests >= 0.6


@pytest.mark.parametrize(
    ("world", "judge", "diagnostics"),
    [
        (replace(MIDDLE, system_sd=1.5), "narrow", ("self-preference",)),
        (MIDDLE, "opinions, steadier", ("self-preference", "length", "compression", "halo", "halo, in criteria")),
    ],
)
def test_an_honest_judge_is_not_found_out(world: World, judge: str, diagnostics: tuple[str, ...]) -> None:
    """A narrow scale, opinions of systems, a steady hand: none of these is the fault.

    The best system is the judge's own and longer stories are better; at most 7 % of studies find something in the long
    run (`tests.benchmarks.simulations.diagnostics`), 4 of 16 with a chance of 2 %.
    """
    found = _counts(world, judge, 1)
    for name in diagnostics:
        hits, tests = found[name]
        assert tests >= STUDIES / 2
        assert hits < 4


def test_people_at_the_end_of_their_scale_leave_nothing_to_compare_with() -> None:
    study = Studies(replace(MIDDLE, shift=-2.0), np.random.default_rng(0)).study()
    table = study.with_judges(judge=study.people[:, :, 0]).table()
    rows = diagnose(table, DiagnoseOptions(own=("system 1",))).frame.set_index(["criterion", "diagnostic"])
    for name in ("length", "self-preference"):
        assert "40 % or more of people's ratings" in rows.loc[("criterion 0", name), "reason"]
    assert "40 % or more of people's ratings" in rows.loc[("all criteria", "halo"), "reason"]


def test_one_rating_a_story_shows_no_error(make_table) -> None:
    table = make_table(prompts=30)
    frame = table.frame[
        (table.frame["source"] == "judge") | (table.frame["rater"] == table.frame["rater"].dropna().iloc[0])
    ]
    rows = diagnose(RatingsTable(frame, table.stories, table.facts)).frame.set_index("diagnostic")
    assert "the error of people's ratings is not known" in rows.loc["compression", "reason"]
    assert "the error of people's ratings is not known" in rows.loc["length", "reason"]


def test_few_other_systems_say_nothing_of_the_own_one() -> None:
    study = Studies(World(systems=3), np.random.default_rng(1)).study()
    table = study.with_judges(judge=study.people[:, :, 0]).table()
    rows = diagnose(table, DiagnoseOptions(own=("system 1",))).frame.set_index("diagnostic")
    assert "fewer than 3 other systems" in rows.loc["self-preference", "reason"]


def test_few_losses_have_few_degrees_of_freedom() -> None:
    """Losses on three story-prompts found something in 16 % of studies that lost three stories of 300 by chance."""
    study = Studies(World(), np.random.default_rng(2)).study()
    said = study.people[:, :, 0].copy()
    said[0, study.story_prompt < 4] = np.where(study.system[study.story_prompt < 4] == 0, np.nan, 3.0)
    rows = diagnose(study.with_judges(judge=said).table()).frame.set_index("diagnostic")
    assert "fewer than 5 story-prompts" in rows.loc["loss", "reason"]
