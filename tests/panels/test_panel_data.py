"""The panel of a rating on its way from a file to the ratings table. Without panels nothing has a place for them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import judge
from judge.answers.journal import JournalReader
from judge.asking.execution.session import Sitting, sit
from judge.asking.run_definition.spec import parse_run_spec
from judge.asking.run_folder import ResultFolder
from judge.base.errors import SpecError
from judge.base.records import Rating, Story
from judge.exchange.imported_folder import write_folder
from judge.exchange.ratings_file import read_ratings
from judge.inputs.datasets import open_dataset
from judge.inputs.datasets.files.native import story_line, write_stories
from judge.ratings.rating_matrix import build
from judge.ratings.ratings_table import COLUMNS, read

GIVEN = (Rating("Overall", 4.0, "1", panel="expert"), Rating("Overall", 2.0, "1", panel="lay"), Rating("Overall", 3.0))
STORIES = [Story(f"s{i}", f"P{i}", f"m{i % 2}", f"A tale of lamp {i}, told once.", None, GIVEN) for i in range(6)]


def _asked(stories: Sequence[Story], folder: Path) -> Path:
    folder.mkdir()
    write_stories(folder / "tales.jsonl", stories)
    words = {"name": "t", "dataset": str(folder / "tales.jsonl"), "judge": "surface", "criteria": "overall"}
    result = ResultFolder(folder / "run")
    sit(Sitting(parse_run_spec({**words, "eval_prompts": ["ep1"]}, "test"), folder, result, quiet=True))
    return result.path


def _tables(path: Path) -> set[str]:
    db = sqlite3.connect(path)
    names = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    db.close()
    return names


def test_the_native_form_keeps_panels_and_names_none_where_there_is_none(tmp_path: Path) -> None:
    write_stories(tmp_path / "tales.jsonl", STORIES)
    assert list(open_dataset(str(tmp_path / "tales.jsonl")).stories()) == STORIES
    plain = json.loads(story_line(Story("s", "", "m", "text", None, (Rating("Overall", 3.0, "ann"),))))
    assert plain["ratings"] == [{"rater": "ann", "criterion": "Overall", "value": 3.0}]


@pytest.mark.parametrize(
    ("table", "columns", "expected"),
    [
        (
            "id,text,who,group,fun\na,One.,ann,expert,4\na,One.,bob,lay,2\na,One.,cid,,3\n",
            {"rater": "who", "panel": "group", "ratings": {"Fun": "fun"}},
            (Rating("Fun", 4, "ann", panel="expert"), Rating("Fun", 2, "bob", panel="lay"), Rating("Fun", 3, "cid")),
        ),
        (
            "id,text,group,fun\na,One.,expert,4\na,One.,lay,2;3\n",
            {"panel": "group", "ratings.Fun": "fun"},
            (
                Rating("Fun", 4, None, panel="expert"),
                Rating("Fun", 2, None, panel="lay"),
                Rating("Fun", 3, None, panel="lay"),
            ),
        ),
        (
            "id,text,x,y\na,One.,4,2\n",
            {"ratings.Fun": "x,y", "panels.expert": "x", "panels": {"lay": ["y"]}},
            (Rating("Fun", 4, "x", panel="expert"), Rating("Fun", 2, "y", panel="lay")),
        ),
        ("id,text,x\na,One.,4\n", {"ratings.Fun": "x", "panel": "=crowd"}, (Rating("Fun", 4, None, panel="crowd"),)),
        (
            "id,text,aspect,score,who,group\na,One.,Fun,4,ann,expert\na,One.,Fun,1,ann,lay\n",
            {"criterion": "aspect", "rating": "score", "rater": "who", "panel": "group"},
            (Rating("Fun", 4, "ann", panel="expert"), Rating("Fun", 1, "ann", panel="lay")),
        ),
    ],
)
def test_tables_say_panels_by_row_or_by_rater(
    table: str, columns: Mapping[str, Any], expected: tuple[Rating, ...], tmp_path: Path
) -> None:
    path = tmp_path / "tales.csv"
    path.write_text(table)
    (story,) = open_dataset(str(path), columns={"system": "=m", **columns}).stories()
    assert story.ratings == expected


def test_a_rater_stands_in_one_panel(tmp_path: Path) -> None:
    path = tmp_path / "tales.csv"
    path.write_text("id,text,x\na,One.,4\n")
    with pytest.raises(SpecError, match="is in panels 'expert' and 'lay'"):
        open_dataset(str(path), columns={"system": "=m", "ratings.Fun": "x", "panels": {"expert": "=x", "lay": "=x"}})


def test_journals_and_tables_have_a_place_for_panels_only_where_there_are_some(tmp_path: Path) -> None:
    panelled = _asked(STORIES, tmp_path / "with")
    bare = [Story(s.id, s.story_prompt, s.system, s.text, None, (Rating("Overall", 4.0, "1"),)) for s in STORIES]
    plain = _asked(bare, tmp_path / "without")
    assert _tables(panelled / "journal.sqlite") - _tables(plain / "journal.sqlite") == {"panels"}
    with JournalReader(panelled / "journal.sqlite") as journal:
        assert [story.ratings for story in journal.stories()] == [GIVEN] * len(STORIES)
    assert tuple(read([plain]).frame.columns) == COLUMNS
    for explanations in (True, False):
        frame = read([panelled], explanations=explanations).frame
        at = COLUMNS.index("rater") + 1
        assert list(frame.columns) == [*COLUMNS[:at], "panel", *COLUMNS[at:]]
        said = frame.loc[frame["source"] == "rater", "panel"].astype(object)
        assert said.where(said.notna(), None).tolist()[:3] == ["expert", "lay", None]
        assert frame.loc[frame["source"] == "judge", "panel"].isna().all()


def test_a_name_in_two_panels_is_two_persons(tmp_path: Path) -> None:
    (matrix,) = build(read([_asked([*STORIES], tmp_path / "run")]))
    assert matrix.by_rater(0).known is False  # one rating of each story has no rater
    named = [Story(s.id, s.story_prompt, s.system, s.text, None, GIVEN[:2]) for s in STORIES]
    (matrix,) = build(read([_asked(named, tmp_path / "named")]))
    assert matrix.by_rater(0).names == ("1 of expert", "1 of lay")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_an_import_keeps_panels_of_people(suffix: str, tmp_path: Path) -> None:
    rows = [
        {"story": f"s{i}", "criterion": "Fun", "rating": 1 + i % 5, "judge": judge, "rater": rater, "panel": panel}
        for i in range(6)
        for judge, rater, panel in (("j", None, None), (None, "ann", "expert"), (None, "ann", "lay"))
    ]
    file = tmp_path / f"ratings{suffix}"
    frame = pd.DataFrame(rows)
    frame.to_csv(file, index=False) if suffix == ".csv" else frame.to_parquet(file)
    folder = write_folder(tmp_path / "run", read_ratings(file))
    table = read([folder.path]).frame
    assert table.groupby("panel").size().to_dict() == {"expert": 6, "lay": 6}


def test_notebooks_have_the_column_where_there_are_panels(tmp_path: Path) -> None:
    write_stories(tmp_path / "tales.jsonl", STORIES)
    ratings = judge.load_dataset(str(tmp_path / "tales.jsonl")).ratings
    assert list(ratings.columns) == ["story", "system", "criterion", "rater", "panel", "rating"]
