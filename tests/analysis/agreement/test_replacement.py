"""Replacing people: the alt-test with known, unknown and sorted people; means with hidden ratings."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judge.analysis.agreement.alternative_annotator import AltTestRow
from judge.analysis.agreement.replacement import MeanRow, replacement, tables
from judge.analysis.options.agreement_options import ReplacementOptions
from judge.base.printing.shortened import shortened
from judge.base.wording import PYTHON
from judge.ratings.ratings_table import RatingsTable
from judge.stats.agreement import icc
from judge.stats.agreement.alt_test import alt_test
from judge.stats.estimation.means import powered_mean

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "alternative_annotator.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def hanna(hanna_table: RatingsTable) -> RatingsTable:
    """Two judges at Eval-Prompt 1, Relevance and Surprise, machine systems."""
    frame = hanna_table.frame
    judged = frame["judge"].isin(["Beluga-13B", "ChatGPT"]) & (frame["eval_prompt"] == "ep1")
    keep = (judged | (frame["source"] == "rater")) & frame["criterion"].isin(["Relevance", "Surprise"])
    return replace(hanna_table, frame=frame[keep & (frame["system"] != "Human")])


@pytest.mark.parametrize("cell", GOLDEN["cells"][:2], ids=lambda c: c["judge"])
def test_positions_on_hanna_give_the_numbers_of_the_authors_notebook(hanna: RatingsTable, cell: dict) -> None:
    options = ReplacementOptions(epsilon=cell["epsilon"], positions=True)
    criterion = {"RE": "Relevance", "SU": "Surprise"}[cell["criterion"]]
    rows = replacement(hanna, options).frame
    row = rows[(rows["judge"] == cell["judge"]) & (rows["criterion"] == criterion)].iloc[0]
    assert row["winning_rate"] == cell["rate"]
    assert row["advantage"] == pytest.approx(cell["rho"], abs=1e-12)
    assert (row["passed"], row["least_stories"], row["advantage_n"]) == (True, 960, 3)
    people = replacement(hanna, options).people_frame
    people = people[(people["judge"] == cell["judge"]) & (people["criterion"] == criterion)]
    assert people["person"].tolist() == ["position 1", "position 2", "position 3"]
    assert people["judge_closer"].tolist() == pytest.approx(cell["advantages"], abs=1e-12)


def test_positions_must_be_asked_for_and_are_named(hanna: RatingsTable) -> None:
    rows = replacement(hanna).frame
    assert rows["winning_rate"].isna().all()
    assert rows["winning_rate_reason"].str.contains("positions=True treats the first, second").all()
    assert replacement(hanna).people_frame.empty
    # On a screen, a table in which nothing can be said is its reason, once.
    screen = shortened(tables(replacement(hanna))[:1], PYTHON)
    assert screen.count("who gave which rating is not known") == 1
    assert "undefined" not in screen
    printed, _ = tables(replacement(hanna, ReplacementOptions(positions=True)))
    assert any("stand in for persons" in note for note in printed.notes)
    assert "|raters:positions|" in printed.signature


def test_the_peoples_agreement_stands_beside_the_verdict(hanna: RatingsTable) -> None:
    rows = replacement(hanna, ReplacementOptions(positions=True)).frame
    frame = hanna.frame
    part = frame[(frame["source"] == "rater") & (frame["criterion"] == "Surprise")]
    ratings = part.groupby("story")["rating"].agg(list).tolist()
    expected = icc.family(np.array(ratings)).rows[0].estimate
    row = rows[rows["criterion"] == "Surprise"].iloc[0]
    assert row["people_icc"] == pytest.approx(expected.value, abs=1e-12)
    equal = np.mean([[a == b, a == c, b == c] for a, b, c in ratings])
    assert row["people_equal"] == pytest.approx(equal, abs=1e-12)
    # The trap: people who agree no better than chance, and every judge passes.
    assert row["people_icc"] < 0.05
    assert row["passed"]


def test_sorted_ratings_are_never_taken_for_persons(mans_length: RatingsTable) -> None:
    for positions in (False, True):
        row = replacement(mans_length, ReplacementOptions(positions=positions)).frame.iloc[0]
        assert row["winning_rate_reason"].endswith(
            "so positions are ratings sorted from lowest to highest, not persons"
        )
        # One-way agreement does not care who is who.
        assert row["people_icc"] == pytest.approx(0.771, abs=5e-4)


def test_one_mean_a_story_is_no_sorted_list_of_ratings(make_table) -> None:
    table = make_table(systems=6, prompts=10)
    people = table.frame["source"] == "rater"
    keys = ["dataset", "story", "criterion"]
    means = table.frame[people].groupby(keys, sort=False)["rating"].transform("mean")
    frame = table.frame.assign(rating=means.reindex(table.frame.index).fillna(table.frame["rating"]))
    first = ~frame.duplicated([*keys, "source"])
    frame = frame[~people | first].assign(rater=None)
    row = replacement(replace(table, frame=frame)).frame.iloc[0]
    assert row["winning_rate_reason"] == "refused: no story has two people's ratings, so nobody can be left out"


def test_known_people(make_table) -> None:
    table = make_table()
    row = replacement(table).frame.iloc[0]
    assert (row["winning_rate_n"], row["least_stories"], row["too_few"]) == (3, 48, 0)
    assert replacement(table).people_frame["person"].tolist() == ["w0", "w1", "w2"]
    few = replacement(make_table(systems=2)).frame.iloc[0]
    assert few["winning_rate_reason"].startswith("refused: the alt-test needs 2 people with 30 stories each")
    assert pd.isna(few["passed"])


def test_people_who_share_the_work_are_compared_on_their_own_stories(make_table) -> None:
    table = make_table(systems=6, prompts=20)
    frame = table.frame
    # Each story loses the person whose number is its story-prompt's modulo 3.
    number = frame["story_prompt"].str.extract(r"(\d+)")[0].astype(int) % 3
    gone = (frame["source"] == "rater") & (frame["rater"] == "w" + number.astype(str))
    rows = replacement(replace(table, frame=frame[~gone])).frame
    assert rows.iloc[0]["least_stories"] == 78
    assert rows.iloc[0]["most_stories"] == 84
    assert rows.iloc[0]["people_icc_n"] == 120


def test_judges_that_know_nothing_stand_beneath_and_pass_where_people_do_not_agree(make_table) -> None:
    for noise, passes in ((30.0, True), (0.3, False)):
        rows = replacement(make_table(systems=6, prompts=20, noise=noise)).frame
        assert rows["kind"].tolist() == ["judge", "null", "null"]
        assert rows["judge"].tolist() == ["openai/m", "always the mean", "people permuted"]
        mean = rows.iloc[1]
        assert (mean["passed"], mean["clustered_passed"]) == (passes, passes)
        assert (rows.iloc[2]["p"] < 0.05) <= passes
        printed, _ = tables(replacement(make_table(systems=6, prompts=20, noise=noise)))
        note = "an uninformed judge passes on Relevance: there, passing is no evidence for a judge"
        assert (note in printed.notes) == passes
    # Nothing is known of them where people are not known one from another.
    assert replacement(make_table(known_raters=False)).frame["kind"].tolist() == ["judge"]


def test_always_the_mean_is_the_test_of_one_rating(make_table) -> None:
    table = make_table(systems=6, prompts=20)
    ratings = table.frame[table.frame["source"] == "rater"].pivot_table(index="story", columns="rater", values="rating")
    given = ratings.to_numpy()
    rows = replacement(table).frame
    by_hand = alt_test(np.full(120, given.mean()), given, epsilon=0.1)
    assert rows.iloc[1]["advantage"] == pytest.approx(by_hand.advantage.value, abs=1e-12)
    exact = replacement(table, ReplacementOptions(measure="exact")).frame.iloc[1]
    whole = alt_test(np.full(120, np.round(given.mean())), given, epsilon=0.1, measure="exact")
    assert exact["advantage"] == pytest.approx(whole.advantage.value, abs=1e-12)
    # One person against the mean of the others, dealt at random: no better than any other uninformed judge.
    again = replacement(table).frame
    assert again.iloc[2]["advantage"] == rows.iloc[2]["advantage"]
    other = replacement(table, ReplacementOptions(seed=2)).frame
    assert other.iloc[2]["advantage"] != rows.iloc[2]["advantage"]
    assert other.iloc[0]["advantage"] == rows.iloc[0]["advantage"]


def test_a_judge_that_lost_stories_is_beside_judges_that_know_nothing_of_the_same(make_table) -> None:
    table = make_table(systems=6, prompts=20, lost=lambda s, p, _: "refused" if p < 5 else None)
    rows = replacement(table).frame
    own = [f"{name}, stories of openai/m ep1" for name in ("always the mean", "people permuted")]
    assert rows["judge"].tolist() == ["openai/m", *own]
    assert rows["most_stories"].tolist() == [90, 90, 90]
    assert rows["clusters"].tolist() == [15, 15, 15]
    twin = table.frame[table.frame["source"] == "rater"]
    twin = twin[twin["rater"] == "w0"].assign(source="judge", judge="twin", eval_prompt="ep1", run="r", repeat=0)
    both = replacement(replace(table, frame=pd.concat([table.frame, twin]))).frame
    assert both["judge"].tolist() == ["openai/m", "twin", "always the mean", "people permuted", *own]
    assert both["most_stories"].tolist() == [90, 120, 120, 120, 90, 90]


def test_people_one_by_one_have_their_p_by_story_prompt(make_table) -> None:
    people = replacement(make_table()).people_frame
    assert set(people["judge"]) == {"openai/m"}
    assert set(people["story_prompts"]) == {12}
    assert (people["clustered_p"] != people["p"]).all()
    assert (people["clustered_p_adjusted"] >= people["clustered_p"]).all()


def test_frames_and_tables_are_of_one_value(make_table) -> None:
    found = replacement(make_table(), ReplacementOptions(rated=8))
    tests, means = tables(found)
    assert all(isinstance(row, AltTestRow) for row in found.tests)
    assert all(isinstance(row, MeanRow) for row in found.means)
    assert [row["winning_rate"] for row in tests.rows] == [row.winning_rate for row in found.tests]
    assert list(found.frame["winning_rate"]) == [row.winning_rate.value for row in found.tests]
    assert [row["powered"] for row in means.rows] == [row.powered for row in found.means]
    assert list(found.means_frame["powered"]) == [row.powered.value for row in found.means]
    assert (found.signature, found.means_signature) == (tests.signature, means.signature)


def test_exact_agreement_rounds_the_judges_mean(make_table) -> None:
    printed, _ = tables(replacement(make_table(), ReplacementOptions(measure="exact")))
    assert any("rounded to whole points" in note for note in printed.notes)
    assert "|alt:exact/eps0.1|" in printed.signature


def test_hidden_ratings_give_powered_means_with_the_full_mean_beside(hanna: RatingsTable) -> None:
    rows = replacement(hanna, ReplacementOptions(rated=30)).means_frame
    assert (rows["both"] == 30).all()
    assert (rows["judge_only"] == 66).all()
    frame = hanna.frame
    rater = frame[(frame["source"] == "rater") & (frame["criterion"] == "Relevance")]
    row = rows[(rows["judge"] == "Beluga-13B") & (rows["criterion"] == "Relevance") & (rows["system"] == "CTRL")].iloc[
        0
    ]
    assert row["all_people"] == pytest.approx(rater[rater["system"] == "CTRL"]["rating"].mean())
    judge = frame[(frame["judge"] == "Beluga-13B") & (frame["criterion"] == "Relevance") & (frame["system"] == "CTRL")]
    assert row["judge_mean"] == pytest.approx(judge["rating"].mean())
    assert row["powered_low"] < row["powered"] < row["powered_high"]
    # The same stories are hidden from every judge and criterion of a seed, others with another.
    again = replacement(hanna, ReplacementOptions(rated=30, seed=2)).means_frame
    assert (again["people"] != rows["people"]).any()
    one = rows[rows["judge"] == "ChatGPT"]["people"].tolist()
    assert one == rows[rows["judge"] == "Beluga-13B"]["people"].tolist()
    # 80 intervals at 95 %: not more than a few miss the mean of all 96 stories, which they were drawn from.
    inside = (rows["powered_low"] <= rows["all_people"]) & (rows["all_people"] <= rows["powered_high"])
    assert inside.mean() > 0.9


def test_stories_that_people_did_not_rate_are_the_judges(make_table) -> None:
    table = make_table()
    frame = table.frame
    gone = (frame["source"] == "rater") & frame["story"].isin([f"s1-{i}" for i in range(5)])
    rows = replacement(replace(table, frame=frame[~gone])).means_frame.set_index("system")
    assert (rows.loc["system 1", "both"], rows.loc["system 1", "judge_only"]) == (7, 5)
    part = frame[(frame["system"] == "system 1") & ~gone]
    story = part.pivot_table(index="story", columns="source", values="rating")
    expected = powered_mean(story["rater"].to_numpy(), story["judge"].to_numpy(), small_sample=True)
    assert rows.loc["system 1", "powered"] == pytest.approx(expected.estimate.value)
    assert rows.loc["system 0", "powered_reason"] == "undefined with fewer than 2 stories rated by the judge only"
    _, printed = tables(replacement(replace(table, frame=frame[~gone])))
    assert (
        "4 of 4 rows rest on fewer than 30 stories that people rated: their intervals are too narrow" in printed.notes
    )


def test_people_alone_are_all_of_peoples_ratings_though_the_judge_lost_stories(make_table) -> None:
    table = make_table(prompts=20)
    frame = table.frame.copy()
    people = frame[frame["source"] == "rater"].groupby("story")["rating"].mean()
    low = people[people <= people.median()].index  # the judge declines what people rated low
    frame.loc[(frame["source"] == "judge") & frame["story"].isin(low), ["rating", "status"]] = [np.nan, "declined"]
    gone = (frame["source"] == "rater") & frame["story"].isin([f"s{i}-{j}" for i in range(4) for j in range(8)])
    lossy = replace(table, frame=frame[~gone])
    rows = replacement(lossy).means_frame.set_index("system")
    for system in ("system 0", "system 3"):
        rated = frame[~gone & (frame["source"] == "rater") & (frame["system"] == system)]
        assert rows.loc[system, "people"] == pytest.approx(rated.groupby("story")["rating"].mean().mean())
        assert rows.loc[system, "people_n"] == rows.loc[system, "powered_n"] == rated["story"].nunique()
        counts = rows.loc[system, ["both", "judge_only", "lost"]]
        assert counts.sum() + rated["story"].isin(low).groupby(rated["story"]).first().sum() >= 20
        assert counts["lost"] == len([s for s in low if s.startswith(f"s{system[-1]}-")])
    _, printed = tables(replacement(lossy))
    assert "|lost:as-judge-mean|" in printed.signature
    assert any(note.startswith("people alone: all their ratings, also of stories") for note in printed.notes)
    assert "lost:" not in tables(replacement(table))[1].signature
