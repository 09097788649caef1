"""Disagreements: leniency is none, each story stands once, texts are data, and JSON holds everything."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from judge.analysis.disagreement_tables import Disagreement, JudgeSide, PeopleSide, tables
from judge.analysis.disagreements import disagreements
from judge.analysis.inputs.selection import narrowed
from judge.analysis.options.selection import Selection
from judge.analysis.options.table_options import DisagreementsOptions
from judge.base.errors import SpecError
from judge.base.printing.tables import Table, render
from judge.ratings.ratings_table import RatingsTable

NASTY = "She\x1b[2J said <b>*no*</b>\n\n| twice \u202ebackwards"


@pytest.fixture
def table(make_table: Callable[..., RatingsTable]) -> RatingsTable:
    """A judge that is half a point milder than people and agrees, but for story s1-4, which it finds awful."""
    made = make_table(noise=0.0, text=NASTY)
    judged = made.frame["source"] == "judge"
    made.frame.loc[judged, "rating"] += 0.5
    made.frame.loc[judged & (made.frame["story"] == "s1-4"), "rating"] = 1.0
    made.frame["explanation"] = np.where(judged, "Because of\tthis.\x07", None)
    return made


def _frame(table: RatingsTable, options: DisagreementsOptions) -> pd.DataFrame:
    return disagreements(table, options).frame


def _tables(table: RatingsTable, options: DisagreementsOptions, *, full_text: bool = False) -> list[Table]:
    return tables(disagreements(table, options), full_text=full_text)


def test_leniency_is_no_disagreement(table: RatingsTable) -> None:
    found = _frame(table, DisagreementsOptions(top=3))
    first, second = found.iloc[0], found.iloc[1]
    assert (first["story"], first["rank"], first["judge"], first["eval_prompt"]) == ("s1-4", 1, "openai/m", "ep1")
    assert first["difference"] < -1
    assert abs(second["difference"]) < 0.3
    assert second["raw"] == 0.5
    frame = table.frame.groupby(["source", "story"], sort=False)["rating"].mean()
    people, judge = frame["rater"], frame["judge"].reindex(frame["rater"].index)
    z = (judge - judge.mean()) / judge.std() - (people - people.mean()) / people.std()
    assert first["difference"] == pytest.approx(z["s1-4"])
    assert first["people"]["z"] == pytest.approx((people["s1-4"] - people.mean()) / people.std())
    assert first["raw"] == pytest.approx(judge["s1-4"] - people["s1-4"])


def test_everything_about_a_story_stands_in_its_row(table: RatingsTable) -> None:
    row = _frame(table, DisagreementsOptions(top=1)).iloc[0]
    assert [rating["rater"] for rating in row["people"]["ratings"]] == ["w0", "w1", "w2"]
    (side,) = row["sides"]
    assert [repeat["repeat"] for repeat in side["repeats"]] == [0, 1, 2]
    assert side["repeats"][0] == {
        "repeat": 0,
        "rating": 1.0,
        "status": "ok",
        "flags": None,
        "explanation": "Because of\tthis.\x07",
    }
    assert row["text"] == NASTY
    assert (row["system"], row["story_prompt"]) == ("system 1", "prompt 4")


def test_each_story_stands_once_unless_all_are_asked_for(hanna_table: RatingsTable) -> None:
    part = narrowed(hanna_table, Selection(judges=("ChatGPT", "Beluga-13B"), criteria=("Empathy", "Surprise")))
    once = _frame(part, DisagreementsOptions(top=200))
    assert len(once) == once["story"].nunique() == 200
    size = once["difference"].abs()
    assert (size.diff().dropna() <= 1e-9).all()
    every = _frame(part, DisagreementsOptions(top=0))
    assert len(every) == 1056 * 2 * 4 * 2
    assert every["difference"].abs().groupby(every["story"]).max()[once["story"]].to_numpy() == pytest.approx(
        size.to_numpy()
    )


def test_lost_repeats_are_listed_with_their_status(make_table: Callable[..., RatingsTable]) -> None:
    made = make_table(noise=0.6, lost=lambda *at: "refused" if at[2] == 1 else None)
    row = _frame(made, DisagreementsOptions(top=1)).iloc[0]
    assert [(repeat["rating"] is None, repeat["status"]) for repeat in row["sides"][0]["repeats"]] == [
        (False, "ok"),
        (True, "refused"),
        (False, "ok"),
    ]
    text = "\n".join(render(one, "table") for one in _tables(made, DisagreementsOptions(top=1)))
    assert "  repeat 1" in text
    assert "refused" in text


def test_between_repeats_the_unit_is_the_judges_own_spread(make_table: Callable[..., RatingsTable]) -> None:
    made = make_table(noise=0.8)
    found = _frame(made, DisagreementsOptions(between="repeats", top=0))
    judged = made.frame[made.frame["source"] == "judge"].groupby("story")["rating"]
    raw = judged.max() - judged.min()
    assert dict(zip(found["story"], found["raw"], strict=True)) == pytest.approx(raw.to_dict())
    assert found.iloc[0]["difference"] == pytest.approx(raw.max() / judged.mean().std())
    assert found.iloc[0]["people"]["z"] is None  # shown, not compared


def test_between_eval_prompts_and_judges_ranges_of_z_are_compared(hanna_table: RatingsTable) -> None:
    part = narrowed(hanna_table, Selection(judges=("ChatGPT", "Beluga-13B"), criteria=("Empathy",)))
    frame = part.frame[part.frame["source"] == "judge"]
    z = frame.groupby(["judge", "eval_prompt"])["rating"].transform(lambda side: stats.zscore(side, ddof=1))
    spread = frame.assign(z=z).groupby(["judge", "story"])["z"].agg(np.ptp)
    prompts = _frame(part, DisagreementsOptions(between="eval-prompts", top=1)).iloc[0]
    assert prompts["difference"] == pytest.approx(spread.max())
    assert (prompts["judge"], prompts["story"]) == spread.idxmax()
    assert prompts["eval_prompt"] is None
    assert [side["eval_prompt"] for side in prompts["sides"]] == ["ep1", "ep2", "ep3", "ep4"]
    judges = _frame(part, DisagreementsOptions(between="judges", top=5))
    assert judges["judge"].isna().all()
    assert {side["judge"] for side in judges.iloc[0]["sides"]} == {"ChatGPT", "Beluga-13B"}
    one = _tables(part, DisagreementsOptions(between="judges", top=1))[0].rows[0]
    assert one["ratings"].startswith(("ChatGPT ", "Beluga-13B "))


def test_what_cannot_be_compared_is_said(make_table: Callable[..., RatingsTable], hanna_table: RatingsTable) -> None:
    made = make_table()
    for between, why in (
        ("judges", "there is one judge"),
        ("eval-prompts", "each judge was asked with one Eval-Prompt"),
    ):
        with pytest.raises(SpecError, match=f"nothing to compare between {between}: {why}"):
            disagreements(made, DisagreementsOptions(between=between))
    with pytest.raises(SpecError, match="between people: people rated none of the judge's criteria"):
        disagreements(make_table(rated=()))
    with pytest.raises(SpecError, match="repeats of imported ratings are not in the file"):
        disagreements(hanna_table, DisagreementsOptions(between="repeats"))
    with pytest.raises(SpecError, match="between repeats: no story has two rated repeats"):
        disagreements(make_table(repeats=1), DisagreementsOptions(between="repeats"))
    with pytest.raises(SpecError, match="top=-1 must be 0"):
        DisagreementsOptions(top=-1)


def test_a_constant_judge_is_left_out_with_a_note(make_table: Callable[..., RatingsTable]) -> None:
    made = make_table(judged=("Relevance", "Coherence"), rated=("Relevance", "Coherence"))
    flat = (made.frame["source"] == "judge") & (made.frame["criterion"] == "Coherence")
    made.frame.loc[flat, "rating"] = 3.0
    found = _tables(made, DisagreementsOptions(top=5))[0]
    assert {row["criterion"] for row in found.rows} == {"Relevance"}
    assert "1 of 2 comparisons left out: one side's ratings are all equal" in found.notes


def test_no_difference_is_no_row(make_table: Callable[..., RatingsTable]) -> None:
    (found,) = _tables(make_table(noise=0.0), DisagreementsOptions(between="repeats"))
    assert found.rows == []
    assert "no story differs between repeats" in found.notes


def test_texts_are_printed_as_text(table: RatingsTable) -> None:
    listed, card = _tables(table, DisagreementsOptions(top=1))
    text = render(listed, "table") + render(card, "table")
    assert "\x1b" not in text
    assert "She\\x1b[2J said <b>*no*</b> | twice \\u202ebackwards" in text
    assert "repeat 0, 1, 2  1: Because of this.\\x07" in text
    assert "|between:people|" in listed.signature
    assert card.signature == ""
    assert r"said \<b\>\*no\*\</b\> \| twice" in render(card, "md")
    assert "\x1b" not in render(listed, "csv") + render(card, "csv")


def test_the_long_table_holds_everything_in_every_form(table: RatingsTable) -> None:
    found = disagreements(table, DisagreementsOptions(top=2))
    (whole,) = tables(found, long=True)
    rows = json.loads(render(whole, "json"))["rows"]
    assert rows[0]["text"] == NASTY
    assert rows == found.frame.to_dict("records")
    cells = next(csv.DictReader(io.StringIO(render(whole, "csv"))))
    assert json.loads(cells["sides"]) == rows[0]["sides"]
    assert "\x1b" not in render(whole, "table") + render(whole, "md")


def test_list_stories_and_frame_are_of_one_value(table: RatingsTable) -> None:
    found = disagreements(table, DisagreementsOptions(top=2))
    first = found.rows[0]
    assert isinstance(first, Disagreement)
    assert isinstance(first.people, PeopleSide)
    assert all(isinstance(side, JudgeSide) for side in first.sides)
    listed, *cards = tables(found)
    assert len(cards) == 2
    for key in ("rank", "criterion", "judge", "difference", "raw"):
        assert [row[key] for row in listed.rows] == [getattr(row, key) for row in found.rows] == list(found.frame[key])
    assert found.frame.attrs == {"signature": listed.signature, "notes": list(found.notes)}


def test_long_texts_are_shortened_unless_asked_for(table: RatingsTable) -> None:
    long = replace(table, stories=table.stories.assign(text="word " * 300))
    shown = render(_tables(long, DisagreementsOptions(top=1))[1], "table")
    assert "word…" in shown
    assert max(map(len, shown.splitlines())) <= 120
    whole = render(_tables(long, DisagreementsOptions(top=1), full_text=True)[1], "table")
    assert whole.count("word") == 300


def test_imported_means_have_neither_repeats_nor_texts(hanna_table: RatingsTable) -> None:
    part = narrowed(hanna_table, Selection(judges=("ChatGPT",), eval_prompts=("ep1",), criteria=("Empathy",)))
    frame = part.frame.assign(repeat=part.frame["repeat"].where(part.frame["source"] == "rater"))
    bare = replace(part, frame=frame, stories=part.stories.assign(text=None))
    row = _frame(bare, DisagreementsOptions(top=1)).iloc[0]
    assert row["text"] == ""
    assert row["sides"][0]["repeats"][0]["repeat"] is None
    card = render(_tables(bare, DisagreementsOptions(top=1))[1], "table")
    assert "repeat" not in card
    assert "ChatGPT, ep1  mean " in card
