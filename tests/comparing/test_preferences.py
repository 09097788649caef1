"""The preferences table, what prints it, and what says that a run holds comparisons."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from judge.answers.journal import JournalReader
from judge.asking.execution import preparation
from judge.asking.execution.session import sit
from judge.asking.run_folder.layout import comparing
from judge.base.errors import RunFolderError
from judge.base.records import Pair, Preference, Rating, Story
from judge.cli.main import main
from judge.inputs.datasets import Dataset
from judge.ratings.preferences_table import COLUMNS, read
from judge.ratings.ratings_table import read as read_ratings
from tests.comparing.conftest import sitting
from tests.server.loopback import LoopbackServer

Start = Callable[..., LoopbackServer]


def run(*arguments: object) -> None:
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    assert end.value.code in (0, None)


def test_each_repeat_is_a_row_with_its_status_and_nothing_is_filled_in(loopback: Start, stories: Path) -> None:
    server = loopback(style={"verdict": 0.6, "refusal": 0.2, "unparseable": 0.2}, expected_repeats=2)
    asked = sitting(server, stories, repeats=2, eval_prompts=["pair1", "pair2"])
    sit(asked)
    table = read([asked.result.path])
    frame = table.frame
    assert tuple(frame.columns) == COLUMNS
    judged = frame[frame["source"] == "judge"]
    assert len(judged) == 96
    assert (judged["preference"].notna() == (judged["status"] == "ok")).all()
    assert {"ok", "refused"} <= set(judged["status"])
    assert set(judged["preference"].dropna()) == {"first", "second", "tie"}
    assert judged[["p_first", "p_second", "p_tie"]].isna().all(axis=None)
    assert judged["explanation"].notna().sum() > 0
    orders = judged.groupby("pair")[["first", "second"]].agg(lambda column: len(set(column)))
    assert (orders == 2).all(axis=None)
    (fact,) = table.facts
    assert (fact.orders, fact.ties, fact.repeats, fact.parser) == ("both", True, 2, "verdict/2")
    assert table.stories.loc[("stories", "s3"), "system"] == "system0"
    assert judged["first_system"].str.startswith("system").all()
    # The same journal is read to the same rows in the same order.
    pd.testing.assert_frame_equal(frame, read([asked.result.path]).frame)


def test_peoples_means_imply_preferences_of_the_pairs_that_were_asked(loopback: Start, stories: Path) -> None:
    asked = sitting(loopback(style="verdict"), stories, pairs={"against": "system0"})
    sit(asked)
    frame = read([asked.result.path]).frame
    implied = frame[frame["source"] == "implied"]
    assert len(implied) == 8
    assert implied["judge"].isna().all()
    value = {f"s{i}": 1 + i % 5 for i in range(12)}
    for row in implied.itertuples():
        apart = value[row.first] - value[row.second]
        assert row.preference == ("tie" if apart == 0 else "first" if apart > 0 else "second")


def test_rating_and_comparing_stand_in_one_table(loopback: Start, stories: Path) -> None:
    sit(sitting(loopback(style="verdict"), stories, folder="compared"))
    sit(sitting(loopback(), stories, folder="rated", pairs=None, eval_prompts=["ep1"], repeats=3))
    sit(sitting(loopback(style="unparseable"), stories, folder="silent", pairs=None, eval_prompts=["ep1"]))
    both = [stories.parent / name for name in ("compared", "rated")]
    frame = read(both).frame
    counts = frame.groupby(["source", "judge"], dropna=False).size().to_dict()
    assert {(s, None if pd.isna(j) else j): n for (s, j), n in counts.items()} == {
        ("judge", "openai/mock"): 24,
        ("implied", "openai/mock"): 12,
        ("implied", None): 12,
    }
    rated = read_ratings([both[1]]).frame.query("source == 'judge'").groupby("story")["rating"].mean()
    for row in frame[(frame["source"] == "implied") & frame["judge"].notna()].itertuples():
        apart = rated[row.first] - rated[row.second]
        assert row.preference == ("tie" if abs(apart) < 1e-9 else "first" if apart > 0 else "second")
    # Nothing is implied by ratings that are not there.
    silent = read([stories.parent / "silent"]).frame
    lost = silent[silent["judge"].notna()]
    assert len(lost) == 12
    assert lost["preference"].isna().all()
    assert set(lost["status"]) == {"not_answered"}


@pytest.fixture
def with_pairs(monkeypatch: pytest.MonkeyPatch) -> Dataset:
    """A dataset with pairs that people compared, and comments on ratings, in the place of any other."""
    stories = [
        Story(
            f"s{i}",
            "p",
            f"m{i}",
            f"Text {i} of a lamp.",
            ratings=(Rating("Overall", i, "r1", f"Remark {i}." if i else None),),
        )
        for i in range(3)
    ]
    pairs = [
        Pair("x", "p", "s1", "s0", (Preference("Overall", "first", "r1"), Preference("Overall", "tie", None))),
        Pair("y", "p", "s2", "s1", (Preference("Overall", "second", "r2"),)),
    ]
    file = Path(__file__)
    dataset = Dataset("compared", (file,), lambda: iter(stories), pairs=lambda: iter(pairs))
    monkeypatch.setattr(preparation, "open_dataset", lambda *_, **__: dataset)
    return dataset


@pytest.mark.usefixtures("with_pairs")
def test_what_people_preferred_and_wrote_is_kept_and_given_again(tmp_path: Path) -> None:
    ended = sitting(None, tmp_path / "none", judge="surface", base_url=[], pairs="given", generation={})
    assert sit(ended).totals.answered == 4
    frame = read([ended.result.path]).frame
    people = frame[frame["source"] == "rater"]
    assert people[["pair", "first", "second", "rater", "preference"]].to_numpy().tolist() == [
        ["x", "s1", "s0", "r1", "first"],
        ["x", "s1", "s0", None, "tie"],
        ["y", "s2", "s1", "r2", "second"],
    ]
    assert set(frame.loc[frame["source"] == "judge", "pair"]) == {"x", "y"}
    with JournalReader(ended.result.journal) as journal:
        assert [story.ratings[0].comment for story in journal.stories()] == [None, "Remark 1.", "Remark 2."]
    # A run that rates the same dataset keeps them too: what its ratings imply is set against them.
    rating = sitting(
        None,
        tmp_path / "none",
        judge="surface",
        base_url=[],
        pairs=None,
        eval_prompts=["ep1"],
        generation={},
        folder="rated",
    )
    sit(rating)
    rated = read([rating.result.path]).frame
    assert (rated["source"] == "rater").sum() == 3
    assert sorted(rated.loc[rated["source"] == "implied", "pair"]) == ["x", "x", "y", "y"]


def test_log_probabilities_give_shares(loopback: Start, stories: Path) -> None:
    asked = sitting(loopback(style="verdict", fixed_text="A"), stories, scoring="logprobs", eval_prompts=["pair1"])
    sit(asked)
    frame = read([asked.result.path]).frame
    judged = frame[frame["source"] == "judge"]
    assert (judged["preference"] == "first").all()
    assert (judged[["p_first", "p_second", "p_tie"]].sum(axis=1) - 1).abs().max() < 1e-9


def test_tables_of_ratings_say_where_comparisons_are(
    loopback: Start, stories: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = sitting(loopback(style="verdict"), stories)
    sit(asked)
    with pytest.raises(RunFolderError, match="holds comparisons of two stories, and no ratings") as error:
        read_ratings([asked.result.path])
    assert "judge rank" in str(error.value.hint)
    for command in ("ratings", "correlate", "systems", "consistency", "diagnose"):
        with pytest.raises(SystemExit) as end:
            main([command, str(asked.result.path)])
        assert end.value.code == 1
        assert "holds comparisons" in capsys.readouterr().err


def test_coverage_counts_verdicts(loopback: Start, stories: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = sitting(loopback(style={"verdict": 0.5, "refusal": 0.5}), stories)
    sit(asked)
    frame = read([asked.result.path]).frame
    judged = frame[frame["source"] == "judge"]
    run("coverage", asked.result.path, "--format", "json")
    first, second = json.loads(capsys.readouterr().out)
    (row,) = first["rows"]
    assert (row["pairs"], row["asked"], row["answered"]) == (12, 24, 24)
    assert row["decided"] == judged["preference"].notna().sum() < 24
    assert row["refused"] == 24 - row["decided"]
    assert row["ties"] == (judged["preference"] == "tie").sum()
    assert second["rows"][0]["criterion"] == "Overall"
    with pytest.raises(SystemExit) as end:
        main(["coverage", str(asked.result.path), "--require", "100"])
    assert end.value.code == 4
    assert "24 comparisons asked" in capsys.readouterr().err
    assert comparing([asked.result.path]) == ([asked.result.path], [])


def test_preferences_are_printed_and_saved_in_every_form(
    loopback: Start, stories: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = sitting(loopback(style="verdict"), stories, eval_prompts=["pair1", "pair2"])
    sit(asked)
    for form, count in (("csv", 61), ("jsonl", 60), ("json", 60)):
        run("ratings", asked.result.path, "--preferences", "--format", form)
        assert len(capsys.readouterr().out.splitlines()) == count
    run("ratings", asked.result.path, "--preferences", "--eval-prompt", "PAIR1")
    shown = capsys.readouterr().out
    assert "orders:both" in shown
    assert "the first 20 of 36 rows" in shown
    run("ratings", asked.result.path, "--preferences", "-o", stories.parent / "rows.csv", "--judge", "openai/mock")
    assert len(pd.read_csv(stories.parent / "rows.csv")) == 60
    with pytest.raises(SystemExit):
        main(["ratings", str(asked.result.path), "--preferences", "--criterion", "Humour"])
    assert "Humour" in capsys.readouterr().err


def test_two_stories_are_tried_in_both_orders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = tmp_path / "A.txt", tmp_path / "B.txt"
    one.write_text("The sea took the boat. Anna waited on the quay, and every night she lit the lamp.")
    other.write_text("There was a boat. There was a boat. It was a boat and it was a boat.")
    run("try", one, "--against", other, "--format", "json")
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    assert [(row["first"], row["second"]) for row in rows] == [("A.txt", "B.txt"), ("B.txt", "A.txt")]
    assert [row["preference"] for row in rows] == ["first", "second"]  # the control does not look at the order
    assert all("does not read the Eval-Prompt" in row["explanation"] for row in rows)
    run("try", one, "--against", other, "--eval-prompts", "pair1,pair2")
    assert "the first: A.txt (ok)" in capsys.readouterr().out


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_HOME", str(tmp_path / "home"))


def test_the_control_judge_ties_where_its_ratings_are_equal(stories: Path) -> None:
    for ties, words in ((True, {"first", "second", "tie"}), (False, {"first", "second"})):
        asked = sitting(
            None, stories, judge="surface", base_url=[], generation={}, ties=ties, folder=f"ties-{ties}", across=True
        )
        sit(asked)
        judged = read([asked.result.path]).frame.query("source == 'judge'")
        assert set(judged["preference"]) == words
        assert set(judged["status"]) == {"ok"}
        seen = {(row.first, row.second): row.preference for row in judged.itertuples()}
        turned = {"first": "second", "second": "first", "tie": "tie"}
        same = sum(seen[second, first] == turned[said] for (first, second), said in seen.items())
        assert same == len(seen) if ties else same > 0
