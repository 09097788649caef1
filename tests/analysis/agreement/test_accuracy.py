"""The accuracy table: HANNA against scipy and mt-metrics-eval, the people's own accuracy, ties, what is lost."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import somersd

from judge.analysis.agreement.accuracy import AccuracyRow, accuracies, tables
from judge.analysis.inputs.bars import ControlSource
from judge.analysis.options.agreement_options import AccuracyOptions
from judge.ratings.ratings_table import RatingsTable

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "mt_metrics_eval.json").read_text(encoding="utf-8"))
JUDGES = ("Beluga-13B", "ChatGPT", "length")


@pytest.fixture(scope="module")
def hanna(hanna_table: RatingsTable) -> RatingsTable:
    """Three judges at Eval-Prompt 1, two criteria, machine systems."""
    frame = hanna_table.frame
    judged = frame["judge"].isin(JUDGES) & (frame["eval_prompt"] == "ep1")
    keep = (judged | (frame["source"] == "rater")) & frame["criterion"].isin(["Relevance", "Complexity"])
    return replace(hanna_table, frame=frame[keep & (frame["system"] != "Human")])


@pytest.fixture(scope="module")
def overall(hanna: RatingsTable) -> pd.DataFrame:
    return accuracies(hanna, AccuracyOptions(ci="none", flips=4000)).frame


def means(table: RatingsTable, judge: str, criterion: str) -> pd.DataFrame:
    frame = table.frame[table.frame["criterion"] == criterion]
    people = frame[frame["source"] == "rater"].groupby("story")["rating"].mean().round(9)
    return pd.DataFrame(
        {"people": people, "judge": frame[frame["judge"] == judge].set_index("story")["rating"].round(9)}
    )


@pytest.mark.parametrize("judge", JUDGES)
def test_half_credit_on_hanna_is_somers_d_of_scipy(hanna: RatingsTable, overall: pd.DataFrame, judge: str) -> None:
    row = overall[(overall["judge"] == judge) & (overall["criterion"] == "Complexity")].iloc[0]
    both = means(hanna, judge, "Complexity")
    d = somersd(both["people"], both["judge"]).statistic
    assert row["half"] == pytest.approx((1 + d) / 2, abs=1e-12)
    assert (row["stories"], row["pairs"]) == (960, 960 * 959 / 2)
    tied = [((np.subtract.outer(v, v) == 0).sum() - 960) / (960 * 959) for v in both.to_numpy().T]
    assert (row["ties_people"], row["ties_judge"]) == pytest.approx(tuple(tied), abs=1e-12)


@pytest.mark.parametrize(
    "cell", [c for c in GOLDEN["cells"] if not c["people_in_steps_of"]], ids=lambda c: str(c["spa"])
)
def test_acc_eq_and_spa_on_hanna_are_those_of_mt_metrics_eval(
    hanna: RatingsTable, overall: pd.DataFrame, cell: dict
) -> None:
    by_item = accuracies(hanna, AccuracyOptions(level="by-item", ci="none", flips=10)).frame
    for frame, name in ((overall, "overall"), (by_item, "by_item")):
        row = frame[(frame["judge"] == cell["judge"]) & (frame["criterion"] == cell["criterion"])].iloc[0]
        assert row["acc_eq_plain"] == pytest.approx(cell[name]["plain"], abs=1e-12)
        assert row["acc_eq_in_sample"] == pytest.approx(cell[name]["acc"], abs=1e-12)
    row = overall[(overall["judge"] == cell["judge"]) & (overall["criterion"] == cell["criterion"])].iloc[0]
    assert row["spa"] == pytest.approx(cell["spa"], abs=0.012)  # each with its own permutations
    assert row["system_pairs"] == 45


def test_length_orders_hanna_by_complexity_better_than_published_judges(overall: pd.DataFrame) -> None:
    half = overall[overall["criterion"] == "Complexity"].set_index("judge")["half"]
    assert half["length"] > max(half["Beluga-13B"], half["ChatGPT"])


def test_a_judge_with_few_values_loses_by_ties_what_half_credit_gives_back(overall: pd.DataFrame) -> None:
    row = overall[(overall["judge"] == "ChatGPT") & (overall["criterion"] == "Relevance")].iloc[0]
    assert row["ties_judge"] > 0.3
    assert row["strict"] < 0.45 < 0.55 < row["half"]


def test_people_one_by_one_stand_above_the_judges(make_table) -> None:
    table = make_table(noise=0.4)
    frame = accuracies(table, AccuracyOptions(ci="none")).frame
    ratings = table.frame[table.frame["source"] == "rater"].pivot_table(index="story", columns="rater", values="rating")
    parts = [(1 + somersd(ratings.drop(columns=w).mean(axis=1).round(9), ratings[w]).statistic) / 2 for w in ratings]
    ceiling = frame.iloc[0]
    assert (ceiling["kind"], ceiling["half"]) == ("ceiling", pytest.approx(np.mean(parts), abs=1e-12))
    assert ceiling["stories"] == 48
    assert 0.5 < ceiling["spa"] <= 1


def test_unknown_people_have_no_accuracy_of_their_own(overall: pd.DataFrame) -> None:
    ceiling = overall[overall["kind"] == "ceiling"]
    assert len(ceiling) == 2
    assert ceiling["half"].isna().all()
    assert ceiling["half_reason"].str.contains("who gave which rating is not known").all()


def test_what_spa_the_same_ratings_get_by_chance_stands_beside_it(make_table) -> None:
    table = make_table(systems=6, prompts=20)
    noise = table.frame[table.frame["source"] == "judge"]
    dealt = noise["rating"].sample(frac=1, random_state=2).to_numpy()
    both = replace(table, frame=pd.concat([table.frame, noise.assign(judge="noise", rating=dealt)]))
    frame = accuracies(both, AccuracyOptions(ci="none")).frame.set_index("judge")
    honest, noisy, people = frame.loc["openai/m"], frame.loc["noise"], frame.iloc[0]
    assert honest["spa"] > 0.9 > honest["spa_chance_high"] > honest["spa_chance"] > 0.5
    assert noisy["spa_chance_high"] > noisy["spa"]
    assert noisy["spa_chance"] == pytest.approx(honest["spa_chance"], abs=0.05)
    assert (people["kind"], people["spa"] > people["spa_chance_high"]) == ("ceiling", True)
    # A row does not depend on the others.
    alone = accuracies(table, AccuracyOptions(ci="none")).frame.set_index("judge").loc["openai/m"]
    assert alone["spa_chance"] == honest["spa_chance"]
    (printed,) = tables(accuracies(both, AccuracyOptions(ci="none")))
    assert any(note.startswith("SPA by chance %: SPA of an uninformed judge") for note in printed.notes)


def test_frame_and_table_are_of_one_value(make_table) -> None:
    found = accuracies(make_table(), AccuracyOptions(resamples=20))
    (printed,) = tables(found)
    assert all(isinstance(row, AccuracyRow) for row in found.rows)
    for name in ("half", "strict", "acc_eq", "spa"):
        assert [row[name] for row in printed.rows] == [getattr(row, name) for row in found.rows]
        assert list(found.frame[name].dropna()) == [n.value for row in found.rows if (n := getattr(row, name)).defined]
    assert found.frame.attrs["signature"] == printed.signature


def test_intervals_come_from_one_set_of_resamples(make_table) -> None:
    table = make_table()
    twin = table.frame[table.frame["source"] == "judge"].assign(judge="twin")
    frame = accuracies(replace(table, frame=pd.concat([table.frame, twin])), AccuracyOptions(resamples=300)).frame
    judges = frame[frame["kind"] == "judge"]
    for name in ("half", "strict", "acc_eq"):
        assert (judges[f"{name}_low"] < judges[name]).all()
        assert (judges[f"{name}_high"] > judges[name]).all()
        assert np.ptp(judges[f"{name}_low"]) == pytest.approx(0, abs=1e-12)
    other = accuracies(table, AccuracyOptions(resamples=300, seed=2)).frame
    assert other.iloc[1]["half_low"] != judges.iloc[0]["half_low"]
    assert other.iloc[1]["half"] == judges.iloc[0]["half"]


def test_few_story_prompts_have_no_intervals(make_table) -> None:
    (printed,) = tables(accuracies(make_table(prompts=4)))
    assert "toy: no intervals, fewer than 5 story-prompts" in printed.notes
    judged = next(row for row in printed.rows if row["kind"] == "judge")
    assert (judged["half"].low, judged["acc_eq"].defined) == (None, True)


def test_many_story_prompts_have_no_intervals_but_all_values(make_table, monkeypatch) -> None:
    table = make_table()
    monkeypatch.setattr("judge.analysis.agreement.accuracy._MOST_UNITS", 10)
    (printed,) = tables(accuracies(table))
    assert "toy: no intervals with more than 10 story-prompts" in printed.notes
    monkeypatch.undo()
    row, usual = printed.rows[1], accuracies(table).frame.iloc[1]
    assert [row[name].value for name in ("half", "strict", "acc_eq", "spa")] == pytest.approx(
        [usual[name] for name in ("half", "strict", "acc_eq", "spa")], abs=1e-12
    )


def test_lost_stories_are_left_out_of_pairs_and_counted(make_table) -> None:
    table = make_table(lost=lambda s, p, _: "refused" if (s, p) == (0, 0) else None)
    row = accuracies(table, AccuracyOptions(ci="none")).frame.query("kind == 'judge'").iloc[0]
    assert (row["stories"], row["pairs"], row["unrated"], row["missing"]) == (47, 47 * 46 / 2, 1, "refused 3")


def test_the_control_stands_beneath(make_table) -> None:
    def predict(stories, people, criterion):
        return SimpleNamespace(values=people.to_numpy(), how="copy", source=ControlSource.UNAVAILABLE, reason=None)

    table = make_table(text="a word")
    (printed,) = tables(accuracies(table, predict=predict))
    control = printed.rows[-1]
    assert (control["kind"], control["half"].value, control["spa"].value) == ("control", 1.0, 1.0)
    assert "|control:copy|" in printed.signature
    assert all(
        row["kind"] != "control"
        for row in tables(accuracies(table, AccuracyOptions(control=False), predict=predict))[0].rows
    )
    unknown = accuracies(make_table(), predict=predict).frame.iloc[-1]
    assert "texts are not in the result folder" in unknown["half_reason"]


def test_criteria_nobody_rated_are_undefined(make_table) -> None:
    frame = accuracies(make_table(judged=("Relevance", "Empathy"))).frame
    row = frame[frame["criterion"] == "Empathy"].iloc[0]
    assert row["spa_reason"].startswith("people did not rate this criterion")


def test_the_printed_table_explains_its_ties(make_table) -> None:
    (printed,) = tables(accuracies(make_table()))
    assert printed.signature.count("|level:overall|ci:boot-inputs/1000/seed1|folds:5|spa:1000/seed1|") == 1
    notes = " ".join(printed.notes)
    assert "toy: SPA over 4 systems is weak evidence" in printed.notes
    for words in ("half right, or as wrong", "epsilon fitted on other folds", "it has no interval", 'level="by-item"'):
        assert words in notes
