"""Criteria: HANNA's published inter-criterion figures, halo and validity of its judges, scale use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from judge.analysis import criteria_profiles as analysis
from judge.analysis.criteria import criteria, tables
from judge.analysis.criteria_profiles import Profile, profiles, scales
from judge.analysis.inputs.rating_sources import ratings_of
from judge.analysis.inputs.selection import narrowed
from judge.analysis.options.selection import Selection
from judge.analysis.options.table_options import CriteriaOptions
from judge.base.errors import SpecError
from judge.base.printing.tables import render
from judge.base.records import Scale
from judge.inputs.datasets import open_dataset
from judge.ratings.rating_matrix import build
from judge.ratings.ratings_table import RatingsTable
from judge.stats.bias.scale_use import scale_use
from tests.benchmarks.simulations.worlds import Studies, World

NAMES = ["Relevance", "Coherence", "Empathy", "Surprise", "Engagement", "Complexity"]
WITHOUT_HUMAN = CriteriaOptions(drop_systems=("Human",), ci="none")

# Chhun, Suchanek & Clavel, TACL 2024, figures of Kendall's tau x100 between people's criteria, lower triangles, rows
# CH EM SU EG CX, columns RE CH EM SU EG; 10 systems (the system Human left out), stories and system means.
PUBLISHED_OVERALL = [[32], [18, 42], [15, 40, 40], [30, 62, 49, 49], [24, 50, 41, 47, 61]]
PUBLISHED_SYSTEM = [[60], [60, 82], [60, 91, 73], [60, 100, 82, 91], [58, 81, 67, 90, 81]]


def _published(triangle: list[list[int]]) -> list[tuple[str, str, int]]:
    return [(NAMES[i + 1], NAMES[j], value) for i, row in enumerate(triangle) for j, value in enumerate(row)]


@pytest.fixture(scope="module")
def hanna_people(hanna_table: RatingsTable) -> RatingsTable:
    return RatingsTable(hanna_table.frame[hanna_table.frame["source"] == "rater"], hanna_table.stories, ())


@pytest.fixture(scope="module")
def pairs(hanna_people: RatingsTable) -> pd.DataFrame:
    return criteria(hanna_people, WITHOUT_HUMAN).view("pairs").set_index(["level", "criterion", "with"])


@pytest.fixture(scope="module")
def beluga(hanna_table: RatingsTable) -> RatingsTable:
    return narrowed(hanna_table, Selection(judges=("Beluga-13B",), eval_prompts=("ep1",)))


@pytest.mark.parametrize(("one", "other", "value"), _published(PUBLISHED_OVERALL))
def test_published_tau_between_peoples_criteria(pairs: pd.DataFrame, one: str, other: str, value: int) -> None:
    found = pairs.loc[("overall", one, other)]
    assert (round(100 * found["tau"]), found["n"]) == (value, 960)


@pytest.mark.parametrize(("one", "other", "value"), _published(PUBLISHED_SYSTEM))
def test_published_tau_over_system_means(
    hanna_people: RatingsTable, pairs: pd.DataFrame, one: str, other: str, value: int
) -> None:
    """The study ranked system means as they are stored: GPT and TD-VAE, equal in Complexity, differ by 4e-16 there.

    So its row of Complexity is met only by breaking that tie as the noise does; ours keeps it.
    """
    found = pairs.loc[("system", one, other)]
    (matrix,) = build(hanna_people, drop_systems=("Human",))
    means = [
        [matrix.people[matrix.criteria.index(name)][matrix.system == s].mean() for s in range(10)]
        for name in (one, other)
    ]
    as_stored = stats.kendalltau(*means).statistic
    assert (round(100 * as_stored), found["n"]) == (value, 10)
    tied = stats.kendalltau(np.round(means[0], 9), np.round(means[1], 9)).statistic
    assert found["tau"] == pytest.approx(tied)
    assert (round(100 * found["tau"]) == value) == (one != "Complexity")


def test_halo_of_the_studys_judges(hanna_table: RatingsTable) -> None:
    # Computed from the score file with scipy.stats.kendalltau, mean over the 15 pairs of criteria, Eval-Prompt 1.
    expected = {"people": 0.40, "Beluga-13B": 0.50, "Mistral-7B": 0.43, "ChatGPT": 0.54, "Llama-13B": 0.18}
    part = narrowed(hanna_table, Selection(eval_prompts=("ep1",)))
    found = criteria(part, WITHOUT_HUMAN).frame.set_index("judge")
    assert {name: round(found.loc[name, "halo"], 2) for name in expected} == expected
    # Positions hold no person there, and people's ratings of most criteria differ by their error only.
    assert found["excess"].isna().all()
    assert found.drop("people")["reason"].str.startswith("undefined: the differences between people's ratings").all()
    assert found.loc["length", "halo"] == pytest.approx(1)
    assert found.loc["length", "own_best"] == 1


def test_validity_of_beluga_is_hardly_above_its_tau_with_other_criteria(beluga: RatingsTable) -> None:
    found = criteria(beluga, WITHOUT_HUMAN).frame.set_index("judge").loc["Beluga-13B"]
    # scipy.stats.kendalltau on the score file: diagonal 24.6, off the diagonal 22.5, own criterion best in 2 of 6.
    assert (round(100 * found["validity"], 1), round(100 * found["heterotrait"], 1)) == (24.6, 22.5)
    assert (found["own_best"], found["own_rows"]) == (2, 6)
    cells = criteria(beluga, WITHOUT_HUMAN).view("multitrait")
    own = cells[cells["criterion"] == cells["against"]]
    # Eval-Prompt 1's six published overall correlations, one decimal more: RE CH EM SU EG CX.
    assert [round(100 * tau, 1) for tau in own["tau"]] == [20.6, 25.6, 27.4, 16.6, 25.7, 31.8]
    assert len(cells) == 36


def test_entropy_of_the_studys_ratings(hanna_table: RatingsTable) -> None:
    """The figures to meet count means below 1 (failures averaged in as -1) as 1; this program moves no rating."""
    expected = {"people": 2.17, "Llama-13B": 1.81, "Beluga-13B": 1.78, "Mistral-7B": 1.63, "ChatGPT": 1.03}
    part = narrowed(hanna_table, Selection(eval_prompts=("ep1",), judges=tuple(expected)[1:]))
    found = profiles(build(part, drop_systems=("Human",)), WITHOUT_HUMAN, scales(part))
    for one in found:
        singles = np.concatenate([one.source.ratings(k).ravel() for k in range(6)])
        clipped = scale_use(np.clip(singles, 1, 5), one.source.by_story, scale=(1, 5))
        assert round(clipped.entropy.value, 2) == expected[one.source.judge]
        if one.use.outside == 0:
            assert one.use.entropy == clipped.entropy
    use = criteria(part, WITHOUT_HUMAN).view("scale-use").set_index(["judge", "criterion"])
    assert use.loc[("people", "all"), "ratings"] == 17280
    assert round(use.loc[("ChatGPT", "all"), "modal_share"], 2) == 0.78
    assert use.loc[("Mistral-7B", "all"), "outside"] == 253
    assert use.loc[("people", "all"), "outside"] == 0
    assert len(use) == 5 * 7


def test_intervals_are_paired_and_resampled_by_story_prompt(make_table: Callable[..., RatingsTable]) -> None:
    table = make_table(judged=NAMES[:3], rated=NAMES[:3], prompts=30)
    found = criteria(table, CriteriaOptions(resamples=300)).frame.set_index("judge")
    people, judge = found.loc["people"], found.loc["openai/m"]
    assert people["halo_low"] < people["halo"] < people["halo_high"]
    assert judge["excess_low"] < judge["excess"] < judge["excess_high"]
    assert np.isnan(people["excess"])
    none = criteria(make_table(prompts=4, judged=NAMES[:2], rated=NAMES[:2])).frame
    assert none["halo"].notna().all()
    assert none["halo_low"].isna().all()


def test_halo_is_over_stories_that_have_all_from_both() -> None:
    """A judge that mixes criteria adds to each what people's other criteria say; one that does not adds nothing."""
    study = Studies(World(criteria=3, own_scales=0.0, noise=0.5), np.random.default_rng(1)).study()
    honest = study.quality + 0.3 * np.random.default_rng(2).standard_normal(study.quality.shape)
    mixed = 0.4 * honest + 0.6 * honest.mean(axis=0)
    lost = np.where(study.story_prompt < 10, np.nan, mixed)
    few = CriteriaOptions(resamples=50)
    found = criteria(study.with_judges(honest=honest, mixed=mixed, lost=lost).table(), few).frame.set_index("judge")
    assert found.loc["honest", "excess_low"] < 0 < found.loc["honest", "excess_high"]
    # A point more in two of three criteria moves a judge that keeps 40 % of what sets them apart by 0.4 of its points.
    assert found.loc["mixed", "excess"] > 0.3
    assert found.loc["mixed", "excess_low"] > 0
    kept = study.with_judges(lost=lost).table()
    part = RatingsTable(
        kept.frame[~kept.frame["story_prompt"].isin([f"prompt {p}" for p in range(10)])], kept.stories, kept.facts
    )
    # People's ratings of the other stories give their leniency and the unit of their scale, and nothing else.
    assert found.loc["lost", "excess"] == pytest.approx(
        criteria(part, few).frame.set_index("judge").loc["lost", "excess"], abs=0.02
    )


def test_what_does_not_exist_says_why(make_table: Callable[..., RatingsTable]) -> None:
    one = criteria(make_table()).frame.set_index("judge")
    assert set(one["reason"]) == {"undefined with fewer than 2 criteria"}
    nobody = criteria(make_table(judged=NAMES[:2], rated=("Empathy",)), CriteriaOptions(ci="none")).frame.set_index(
        "judge"
    )
    assert nobody.loc["openai/m", "reason"] == "undefined: nobody rated these criteria"
    constant = make_table(judged=NAMES[:2], rated=NAMES[:2])
    constant.frame["rating"] = 3.0
    found = criteria(constant).view("pairs")
    assert found["tau"].isna().all()
    assert found["reason"].str.startswith("undefined: a constant side").all()
    with pytest.raises(SpecError, match="view 'halos' is not known; did you mean 'halo'"):
        criteria(constant).view("halos")


def test_datasets_need_no_run(studies: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_DATA", str(studies))
    dataset = open_dataset("deltascore_roc")
    table = ratings_of(dataset)
    found = tables(criteria(table, CriteriaOptions(resamples=20), scale=dataset.scale))
    assert [one.title.partition(",")[0] for one in found] == [
        "Criteria: mean tau-b x100 between them",
        "Use of the scale",
        "Tau-b x100 between criteria",
    ]
    assert found[0].signature.startswith("deltascore_roc:120|ci:boot-inputs/20/seed1|crit:Fluency,Coherence,")
    assert any("not points of the scale (means of several people?)" in note for note in found[-1].notes)
    assert any("are weak evidence at system level" in note for note in found[-1].notes)


def test_people_alone_on_one_criterion_have_their_scale_use(mans_table: RatingsTable) -> None:
    (use,) = tables(criteria(mans_table, CriteriaOptions(), scale=Scale(1, 5)))
    # Counts of MANS-ROC's 5,000 scores: 686 2015 1458 745 96.
    assert use.rows[0]["entropy"].value == pytest.approx(stats.entropy([686, 2015, 1458, 745, 96], base=2))
    assert (use.rows[0]["modal"], use.rows[0]["outside"]) == ("2", 0)
    assert "one criterion: nothing to compare between criteria" in use.notes


def test_tables_show_the_summary_first_and_matrices_where_there_are_few(
    hanna_table: RatingsTable, beluga: RatingsTable
) -> None:
    found = tables(criteria(beluga, WITHOUT_HUMAN))
    assert [one.title.split(",")[0] for one in found] == [
        "Criteria: mean tau-b x100 between them",
        "Use of the scale",
        "Tau-b x100 between criteria",
        "Tau-b x100 between criteria",
        "Tau-b x100 with people's criteria",
    ]
    text = render(found[2], "table")
    assert text.splitlines()[3].split() == ["Relevance", "—", "60", "60", "60", "60", "57"]
    assert text.splitlines()[8].split() == ["Complexity", "24", "50", "41", "47", "61", "—"]
    part = narrowed(hanna_table, Selection(criteria=("Empathy", "Surprise")))
    many = tables(criteria(part, WITHOUT_HUMAN))
    assert len(many) == 3
    assert "matrices of 21 judges x Eval-Prompts are left out" in many[-1].notes[-1]


def test_matrices_of_many_criteria_are_left_to_full_tables(
    make_table: Callable[..., RatingsTable], monkeypatch: pytest.MonkeyPatch
) -> None:
    result = criteria(make_table(judged=NAMES[:3], rated=NAMES[:3]), CriteriaOptions(resamples=20))
    monkeypatch.setattr("judge.analysis.criteria.MANY", 2)
    few = tables(result)
    assert not any(one.title.startswith("Tau-b x100") for one in few)
    assert "matrices of more than 2 criteria are left out here" in few[-1].notes[-1]
    assert sum(one.title.startswith("Tau-b x100") for one in tables(result, full=True)) == 3


def test_long_tables_hold_every_number(make_table: Callable[..., RatingsTable]) -> None:
    table = make_table(judged=NAMES[:2], rated=NAMES[:2])
    found = tables(criteria(table, CriteriaOptions(resamples=20)), long=True)
    assert [(one.title, len(one.rows)) for one in found] == [
        ("Halo and validity", 2),
        ("Tau-b between criteria", 4),
        ("Tau-b of the judge's criteria with people's", 4),
        ("Scale use", 6),
    ]
    frame = pd.DataFrame(found[0].rows)
    assert {"halo_low", "excess_high", "own_best"} <= set(frame.columns)
    full = tables(criteria(table, CriteriaOptions(ci="none")), full=True)
    assert [row["criterion"] for row in full[1].rows] == [*NAMES[:2], "all", *NAMES[:2], "all"]


def test_frames_and_tables_come_from_the_same_profiles(
    make_table: Callable[..., RatingsTable], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    halo_test = analysis.halo_test
    monkeypatch.setattr(analysis, "halo_test", lambda *a: made.append("halo") or halo_test(*a))
    found = criteria(make_table(judged=NAMES[:2], rated=NAMES[:2]), CriteriaOptions(resamples=20))
    summary, use, people, *_ = tables(found)
    long = tables(found, long=True)
    assert made == ["halo"]
    assert {type(one) for one in found.profiles} == {Profile}
    assert [row["halo"] for row in summary.rows] == [one.halo for one in found.profiles]
    assert found.frame["halo"].tolist() == [row["halo"].value for row in summary.rows]
    assert [row["halo"] for row in long[0].rows] == found.frame["halo"].tolist()
    assert found.frame.attrs["signature"] == summary.signature == long[0].signature
    assert found.view("pairs").attrs["signature"] == use.signature
    (overall, system), *_ = [found.view("pairs").query("judge == 'people'")["tau"]]
    assert [row["criterion"] for row in people.rows] == NAMES[:2]
    assert (people.rows[1][NAMES[0]], people.rows[0][NAMES[1]]) == (overall, system)
