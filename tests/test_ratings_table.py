"""From journals to the ratings table, the notebook API on top of it, and what `verify` finds."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import judge
from judge.asking.execution.session import Sitting, sit
from judge.asking.execution.verification import verify_journal
from judge.asking.run_definition.spec import parse_run_spec
from judge.asking.run_folder import ResultFolder
from judge.base.errors import DataError, RunFolderError, SpecError
from judge.cli.main import main
from judge.ratings.ratings_table import COLUMNS, read

STORIES = [
    {
        "id": f"s{i}",
        "story_prompt": f"P{i // 2}",
        "system": f"m{i % 2}",
        "text": f"Story {i} is about a lamp, and it goes on for a while.",
        "reference": None,
        "ratings": [{"rater": "r1", "criterion": "Overall", "value": 1 + i % 5}],
    }
    for i in range(6)
]


@pytest.fixture
def ask(tmp_path: Path) -> Callable[..., Path]:
    """Runs a judge on six stories and returns the result folder."""
    stories = tmp_path / "stories.jsonl"
    stories.write_text("\n".join(map(json.dumps, STORIES)) + "\n")

    def run(name: str = "surface", judge: str = "surface", **changes: Any) -> Path:
        data = {
            "name": "t",
            "dataset": str(stories),
            "judge": judge,
            "criteria": "overall",
            "eval_prompts": ["ep1", "ep2"],
        }
        result = ResultFolder(tmp_path / name)
        sit(Sitting(parse_run_spec(data | changes, "test"), tmp_path, result, quiet=True))
        return result.path

    return run


def test_rows_come_in_reading_order_with_the_columns_promised(ask: Callable[..., Path]) -> None:
    table = read([ask(repeats=2)])
    assert tuple(table.frame.columns) == COLUMNS
    judged = table.frame[table.frame["source"] == "judge"]
    assert len(judged) == 6 * 2 * 2
    assert judged["story"].tolist() == [f"s{i}" for i in range(6) for _ in range(4)]
    assert judged["eval_prompt"].tolist()[:4] == ["ep1", "ep1", "ep2", "ep2"]
    assert judged["repeat"].tolist()[:4] == [0, 1, 0, 1]
    people = table.frame[table.frame["source"] == "rater"]
    assert people["rating"].tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 1.0]
    assert people["rater"].tolist() == ["r1"] * 6
    assert table.stories.loc[("stories", "s3"), "words"] == 13
    assert "control, not a language model" in table.facts[0].notes[0]


def test_peoples_ratings_come_once_for_two_judges(ask: Callable[..., Path]) -> None:
    table = read([ask(), ask("scripted", "scripted/endings")])
    assert (table.frame["source"] == "rater").sum() == 6
    assert [fact.judge for fact in table.facts] == ["surface", "scripted/endings"]
    assert any("scripted" in note for note in table.facts[1].notes)
    lost = table.frame[(table.frame["judge"] == "scripted/endings") & (table.frame["status"] != "ok")]
    assert not lost.empty
    assert lost["rating"].isna().all()


def test_two_versions_of_one_dataset_are_never_mixed(ask: Callable[..., Path], tmp_path: Path) -> None:
    first = ask()
    changed = [*STORIES[:5], STORIES[5] | {"text": "Another text."}]
    (tmp_path / "stories.jsonl").write_text("\n".join(map(json.dumps, changed)) + "\n")
    with pytest.raises(RunFolderError, match="another version of dataset 'stories'"):
        read([first, ask("second")])


def test_the_published_parser_says_that_it_imputes(ask: Callable[..., Path]) -> None:
    folder = ask("scripted", "scripted/endings", repeats=2)
    ours, published = read([folder]), read([folder], "as-published")
    assert published.frame["rating"].notna().all()
    assert ours.frame["rating"].isna().any()
    assert any("imputes" in note for note in published.facts[0].notes)
    assert published.facts[0].parser == "as-published/1"
    assert published.facts[0].structured == "none"


def test_what_has_not_been_asked_yet_is_said(ask: Callable[..., Path], tmp_path: Path) -> None:
    folder = ask()
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["in_force"]["repeats"] = 3
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert any("24 of 36 planned repeats have not been requested yet" in note for note in read([folder]).facts[0].notes)


def test_an_imported_table_is_read_and_checked(ask: Callable[..., Path], tmp_path: Path) -> None:
    frame = read([ask()]).frame
    frame.loc[frame["source"] == "judge", "status"] = "imported"
    (tmp_path / "imported").mkdir()
    path = tmp_path / "imported" / "imported.csv"
    frame.to_csv(path, index=False)
    again = read([tmp_path / "imported"])
    pd.testing.assert_series_equal(again.frame["rating"], frame["rating"])
    assert again.facts[0].parser == "imported"
    assert again.facts[0].structured is None
    frame.loc[2, "status"] = "fine"
    frame.to_csv(path, index=False)
    with pytest.raises(DataError, match=r"row 4.*unknown status; found 'fine'; allowed: ok"):
        read([tmp_path / "imported"])
    frame.drop(columns="repeat").to_csv(path, index=False)
    with pytest.raises(DataError, match="columns are missing; found \\['repeat'\\]"):
        read([tmp_path / "imported"])


def test_the_notebook_api_gives_frames(ask: Callable[..., Path]) -> None:
    run = judge.open_run(ask(repeats=3, generation={"temperature": 1, "seed": 2}))
    assert run.ratings().equals(run.table.frame)
    found = run.correlate(ci="none").frame
    assert {"judge", "criterion", "eval_prompt", "n"} <= set(found.columns)
    shown = run.correlate(ci="none")
    assert shown.frame.equals(found)
    assert found.attrs == {"signature": shown.signature, "notes": list(shown.notes)}
    assert f'<p class="signature">{shown.signature}</p>' in shown._repr_html_()
    assert set(run.consistency().frame["form"]) >= {"ICC(1,1)", "ICC(2,k)"}
    assert run.coverage(by=("system",)).frame["asked"].sum() == 36
    data = judge.load_dataset("demo")
    assert len(data.stories) == 48
    assert set(data.ratings["rater"]) == {"construction"}


def tampered(folder: Path, sql: str) -> tuple[int, list[str]]:
    db = sqlite3.connect(folder / "journal.sqlite")
    with db:
        db.execute(sql)
    db.close()
    return verify_journal(ResultFolder(folder))


def test_verify_derives_every_key_again(ask: Callable[..., Path]) -> None:
    assert verify_journal(ResultFolder(ask())) == (12, [])


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("UPDATE stories SET text = text || '!' WHERE id = 's1'", "2 queries have another hash .* s1/Overall/ep1"),
        ("UPDATE meta SET value = replace(value, 'Rating:', 'Score:') WHERE key = 'definition'", "template ep1"),
        ("DELETE FROM responses WHERE rowid = 1", "1 answered attempts without a response"),
        ("DELETE FROM attempts WHERE id = 1", "1 responses without an answered attempt"),
        ("DELETE FROM queries WHERE story = 's0'", "2 responses of no known query"),
        ("UPDATE queries SET story = 'none' WHERE story = 's0'", "2 queries of no known story"),
    ],
)
def test_verify_finds_what_was_changed(ask: Callable[..., Path], sql: str, words: str) -> None:
    import re

    _, problems = tampered(ask(), sql)
    assert re.search(words, "; ".join(problems))


def test_the_verify_command_exits_with_4(ask: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    folder = ask()
    with pytest.raises(SystemExit) as left:
        main(["status", str(folder), "--verify"])
    assert left.value.code == 0
    assert "12 queries verified" in capsys.readouterr().out
    tampered(folder, "UPDATE stories SET text = 'x' WHERE id = 's1'")
    with pytest.raises(SystemExit) as left:
        main(["status", str(folder), "--verify"])
    assert left.value.code == 4


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"generation": {"temperature": 1.0}}, "generation changed"),
        ({"structured": "json"}, "structured changed"),
        ({"criteria": "hanna"}, "the criteria set changed"),
        ({"revision": "r2"}, "the judge .* changed"),
        ({"system": "Be brief."}, "system changed"),
    ],
)
def test_another_run_may_not_go_on_in_the_folder(ask: Callable[..., Path], changes: dict[str, Any], words: str) -> None:
    ask()
    with pytest.raises(RunFolderError, match=words):
        ask(**changes)


def test_repeats_and_eval_prompts_may_be_added(ask: Callable[..., Path]) -> None:
    folder = ask()
    ask(repeats=2)
    ask(repeats=2, eval_prompts=["ep5"])
    table = read([folder])
    judged = table.frame[table.frame["source"] == "judge"]
    assert judged.groupby("eval_prompt").size().to_dict() == {"ep1": 12, "ep2": 12, "ep5": 12}
    assert table.facts[0].eval_prompts == ("ep1", "ep2", "ep5")
    assert verify_journal(ResultFolder(folder)) == (18, [])


def test_a_changed_template_under_an_old_name_is_refused(ask: Callable[..., Path], tmp_path: Path) -> None:
    template = tmp_path / "mine.jinja"
    template.write_text("Story: {{ story }}\n{{ criterion.name }}\nRating:\n")
    ask(eval_prompts=["mine.jinja"])
    template.write_text("Story: {{ story }}\n\n{{ criterion.name }}\nRating:\n")
    with pytest.raises(RunFolderError, match="the Eval-Prompts changed"):
        ask(eval_prompts=["mine.jinja"])


def test_an_eval_prompt_that_cannot_be_asked_is_refused_before_it_is_added(ask: Callable[..., Path]) -> None:
    folder = ask()
    with pytest.raises(SpecError, match="ep4 needs a reference story and story 's0' has none"):
        ask(eval_prompts=["ep1", "ep4"])
    assert read([folder]).facts[0].eval_prompts == ("ep1", "ep2")


def test_people_on_another_scale_are_noted(ask: Callable[..., Path], tmp_path: Path) -> None:
    folder = ask()
    assert not any("people's ratings" in note for note in read([folder]).facts[0].notes)
    db = sqlite3.connect(folder / "journal.sqlite")
    with db:
        db.execute("UPDATE ratings SET value = 9 WHERE rowid = 1")
    db.close()
    assert any("reach from 1 to 9, the judge's scale from 1 to 5" in note for note in read([folder]).facts[0].notes)


def test_the_controls_own_rows_on_stories_it_was_fitted_on_say_so(studies: Path, tmp_path: Path) -> None:
    data = {"name": "m", "dataset": "mans_roc", "judge": "surface", "criteria": "overall", "eval_prompts": ["ep1"]}
    result = ResultFolder(tmp_path / "surface")
    ended = sit(Sitting(parse_run_spec(data, "test"), tmp_path, result, quiet=True))
    assert ended.totals.answered == 1000
    notes = read([result.path]).facts[0].notes
    assert any("story-prompts of 1000 of these 1000 stories" in note for note in notes)
    found = judge.open_run(result.path).table
    from judge.analysis.correlation import correlate
    from judge.analysis.inputs.control import control_predictions

    rows = correlate(found, predict=control_predictions).set_index("judge")
    own = [value for name, value in rows["value"].items() if name == "surface"]
    control = [value for name, value in rows["value"].items() if "control" in str(name)]
    assert len(own) == len(control) == 1
    assert 0.18 < control[0] < own[0]  # in sample looks better than out of fold, as it must
