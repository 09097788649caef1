"""Files of ratings as people have them: the documented minimum, texts, people's ratings, datasets to join, repeats."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from judge.analysis.diagnose import diagnose, tables
from judge.base.errors import DataError, JudgeError
from judge.base.records import Criterion, Scale
from judge.cli.main import main
from judge.cli.table_options import mend
from judge.exchange.imported_folder import write_folder
from judge.exchange.ratings_file import read_ratings
from judge.inputs.datasets import open_dataset
from judge.ratings.rating_matrix import build
from judge.ratings.ratings_table import read

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)

    def _run(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main(list(words))
        out, err = capsys.readouterr()
        return int(stop.value.code or 0), out, err

    return _run


def _minimum(name: str = "demo") -> pd.DataFrame:
    """Whole ratings by length, which every dataset's stories have, under the dataset's own ids."""
    stories = list(open_dataset(name).stories())
    ratings = [1 + len(story.text) % 5 for story in stories]
    criterion = stories[0].ratings[0].criterion
    return pd.DataFrame({"story": [story.id for story in stories], "criterion": criterion, "rating": ratings})


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".json", ".jsonl", ".parquet", ".xlsx"])
def test_the_documented_minimum_is_enough_in_every_format(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"mine{suffix}"
    frame = pd.DataFrame({"story": ["a", "b"], "criterion": "Fun", "rating": [4, 2]})
    {
        ".csv": lambda: frame.to_csv(file, index=False),
        ".tsv": lambda: frame.to_csv(file, index=False, sep="\t"),
        ".json": lambda: frame.to_json(file, orient="records"),
        ".jsonl": lambda: frame.to_json(file, orient="records", lines=True),
        ".parquet": lambda: frame.to_parquet(file, index=False),
        ".xlsx": lambda: frame.to_excel(file, index=False),
    }[suffix]()
    write_folder(tmp_path / "out", read_ratings(file))
    (matrix,) = build(read([tmp_path / "out"]))
    assert (matrix.cells[0].judge, matrix.dataset, matrix.judge.tolist()) == ("mine", "mine", [[4, 2]])


def test_a_joined_dataset_gives_texts_systems_and_people(
    run: Run, studies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_DATA", str(studies))
    _minimum("mans_roc").to_csv("scores.csv", index=False)
    code, out, _ = run("import", "scores.csv", "--dataset", "mans_roc", "--criteria", "overall", "-o", "in")
    assert code == 0
    assert "1000 ratings by 1 judge, 5000 by people, 1000 stories" in out
    assert "1,000 of the file's 1,000 stories were found by id among the 1,000 of mans_roc" in out
    (matrix,) = build(read(["in"]))
    known = {story.id: story for story in open_dataset("mans_roc").stories()}
    assert matrix.dataset == "mans_roc"
    assert matrix.stories["text"].tolist() == [known[name].text for name in matrix.stories["story"]]
    assert matrix.stories["words"].tolist() == [len(known[name].text.split()) for name in matrix.stories["story"]]
    assert len(matrix.systems) == 5
    assert matrix.people[0].tolist() == [
        pytest.approx(sum(r.value for r in known[name].ratings) / 5) for name in matrix.stories["story"]
    ]
    code, out, _ = run("correlate", "in", "--resamples", "20", "--given", "length", "--format", "json")
    rows = json.loads(out)["rows"]
    control = next(row for row in rows if row["judge"].startswith("control"))
    # The mean of five foldings is 0.218, as docs/guides/tables.md prints it; one folding lies within 0.01 of it.
    assert control["value"] == pytest.approx(0.218, abs=0.01)
    assert control["given"] is not None


def _diagnosed(folder: Path, diagnostic: str) -> dict[str, Any]:
    (table,) = tables(diagnose(read([folder])), full=True)
    return next(row for row in table.rows if row["diagnostic"] == diagnostic)


def test_texts_in_the_file_make_control_and_length_work(tmp_path: Path) -> None:
    """A file that says everything itself: one row a story, people's ratings in columns beside the judge's."""
    stories = list(open_dataset("demo").stories())
    frame = pd.DataFrame(
        {
            "id": [s.id for s in stories],
            "text": [s.text for s in stories],
            "system": [s.system for s in stories],
            "prompt": [s.story_prompt for s in stories],
            "reference": [s.reference for s in stories],
            "score": [1 + len(s.text) % 5 for s in stories],
            "ann": [2 + i % 3 for i in range(len(stories))],
            "bob": [2 + i % 3 + i % 2 for i in range(len(stories))],
        }
    )
    frame.to_csv(tmp_path / "all.csv", index=False)
    columns = {"story": "id", "story_prompt": "prompt", "ratings.Coherence": "score", "people.Coherence": "ann,bob"}
    columns["judge"] = "=gpt-4"
    write_folder(tmp_path / "in", read_ratings(tmp_path / "all.csv", columns=columns))
    table = read([tmp_path / "in"])
    (matrix,) = build(table)
    assert matrix.cells[0].judge == "gpt-4"
    assert matrix.stories["text"].tolist() == [s.text for s in stories]
    assert matrix.people.tolist() == [((frame["ann"] + frame["bob"]) / 2).tolist()]
    assert set(matrix.systems) == {s.system for s in stories}
    # The slope at equal quality needs people's own error, so two people, whose ratings do not crowd at an end.
    assert _diagnosed(tmp_path / "in", "length")["p"] is not None
    kept = pd.read_csv(tmp_path / "in" / "imported_stories.csv")
    assert kept["reference"].notna().sum() == sum(s.reference is not None for s in stories)


def test_people_and_several_judges_in_one_file(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"story": "a", "criterion": "Fun", "rater": "w1", "rating": 5}]
    rows += [
        {"story": "a", "system": "s", "text": "A tale.", "criterion": "Fun", "judge": j, "rating": 2} for j in "xy"
    ]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    write_folder(tmp_path / "in", read_ratings(tmp_path / "r.jsonl"))
    (matrix,) = build(read([tmp_path / "in"]))
    assert [cell.judge for cell in matrix.cells] == ["x", "y"]
    assert matrix.rater_names == ("w1",)
    # The person's row stands first and names no system; another row of the story does.
    assert matrix.systems == ("s",)
    assert matrix.stories["text"].tolist() == ["A tale."]


def test_a_dataset_of_other_ids_is_refused_with_the_ids(tmp_path: Path) -> None:
    demo = open_dataset("demo")
    for change, sentence, hint in (
        ({"story": [f"x{i}" for i in range(48)]}, "0 of the file's 48 stories are in demo", "look like 'lighthouse-"),
        ({"story": ["lighthouse-original", *(f"x{i}" for i in range(47))]}, "1 of the file's 48", "look like"),
        ({"story": [f"{i}.0" for i in range(48)]}, "not in it: '0.0', '1.0'", "astype(int)"),
    ):
        _minimum().assign(**change).to_csv(tmp_path / "r.csv", index=False)
        with pytest.raises(DataError) as caught:
            read_ratings(tmp_path / "r.csv", dataset=demo)
        assert sentence in str(caught.value)
        assert hint in str(caught.value.hint)


def test_a_few_other_ids_are_kept_and_named(tmp_path: Path) -> None:
    frame = _minimum()
    frame.loc[0, "story"] = "mine"
    frame.to_csv(tmp_path / "r.csv", index=False)
    found = read_ratings(tmp_path / "r.csv", dataset=open_dataset("demo"))
    assert "47 of the file's 48 stories were found by id among the 48 of demo" in found.notes
    assert "nothing but their ratings is known of 1 stories: 'mine'" in found.notes
    assert any("set by rule" in note for note in found.notes)
    write_folder(tmp_path / "in", found)
    table = read([tmp_path / "in"])
    assert "set by rule" in str(table.facts[0].labels_note)
    assert table.stories["text"].notna().sum() == 47


def test_what_the_file_says_must_be_what_the_dataset_says(tmp_path: Path) -> None:
    _minimum().assign(system="GPT-9").to_csv(tmp_path / "r.csv", index=False)
    with pytest.raises(DataError, match=r"row 2: the system of story .* is not that of demo") as caught:
        read_ratings(tmp_path / "r.csv", dataset=open_dataset("demo"))
    assert "--set leave_out=system" in str(mend(caught.value))
    found = read_ratings(tmp_path / "r.csv", dataset=open_dataset("demo"), leave_out=["system"])
    assert "GPT-9" not in set(found.frame["system"])
    _minimum().assign(dataset="hanna").to_csv(tmp_path / "r.csv", index=False)
    with pytest.raises(DataError, match="names another dataset than demo; found 'hanna'"):
        read_ratings(tmp_path / "r.csv", dataset=open_dataset("demo"))


def test_people_in_the_file_stand_in_place_of_the_datasets_and_other_criteria_are_said(tmp_path: Path) -> None:
    one = _minimum()
    pd.concat([one, one.assign(rater="w1")]).to_csv(tmp_path / "r.csv", index=False)
    found = read_ratings(tmp_path / "r.csv", dataset=open_dataset("demo"))
    assert (found.frame["source"] == "rater").sum() == 48
    assert "people's ratings are the file's own; those of demo were left out" in found.notes
    one.assign(criterion="Zest").to_csv(tmp_path / "r.csv", index=False)
    found = read_ratings(tmp_path / "r.csv", dataset=open_dataset("demo"))
    assert any("no criterion of the file was rated by people in demo" in note for note in found.notes)


def test_the_command_refuses_a_dataset_that_is_not_known(run: Run, tmp_path: Path) -> None:
    _minimum().to_csv("r.csv", index=False)
    code, _, err = run("import", "r.csv", "--dataset", "demi")
    assert (code, "did you mean 'demo'" in err) == (1, True)
    (tmp_path / "own.csv").write_text(
        "id,Story,Model\nlighthouse-original,Once upon a time in a tower by the sea ...,m\n"
    )
    code, _, err = run("import", "r.csv", "--dataset", "own.csv")
    assert code == 1
    assert "judge data add NAME own.csv OPTIONS" in err
    assert "--column text=Story --column system=Model" in err


def _rows(**more: Any) -> list[dict[str, Any]]:
    return [{"story": s, "criterion": "Fun", "rating": r, **more} for s, r in (("a", 4), ("b", 2), ("a", 5), ("a", 3))]


def _read(tmp_path: Path, rows: list[dict[str, Any]], **options: Any) -> Any:
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return read_ratings(tmp_path / "r.jsonl", **options)


def test_the_same_rating_twice_is_refused_with_the_rows(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"rows 1 and 3: judge 'r' rates story 'a' on Fun twice; 2 of .* 1 and 4"
    ) as caught:
        _read(tmp_path, _rows())
    assert "--set number_repeats=true" in str(mend(caught.value))
    with pytest.raises(DataError, match="judge 'm', Eval-Prompt ep2 rates story 'a' on Fun twice in repeat 1"):
        _read(tmp_path, _rows(repeat=1, judge="m", eval_prompt="ep2"))
    with pytest.raises(DataError, match="rows 1 and 3: rater 'w' rates story 'a' on Fun twice"):
        _read(tmp_path, _rows(rater="w"))
    assert len(_read(tmp_path, _rows(source="rater")).frame) == 4  # who they are is unknown: four people, perhaps
    rows = [row | {"eval_prompt": f"ep{i}"} for i, row in enumerate(_rows())]
    assert len(_read(tmp_path, rows).frame) == 4


def test_rows_are_numbered_as_repeats_where_that_is_said(tmp_path: Path) -> None:
    found = _read(tmp_path, _rows(), number_repeats=True)
    assert found.frame["repeat"].tolist() == [0, 0, 1, 2]
    write_folder(tmp_path / "in", found)
    table = read([tmp_path / "in"])
    (matrix,) = build(table)
    assert table.facts[0].repeats == 3
    assert matrix.judge.tolist() == [[4, 2]]
    assert matrix.means == (False,)
    with pytest.raises(DataError, match="row 1: the file numbers its repeats"):
        _read(tmp_path, _rows(repeat=0), number_repeats=True)


def test_several_ratings_in_a_cell_or_in_columns_are_repeats(tmp_path: Path) -> None:
    rows = [{"id": "a", "fun": [4, 5], "sad": 1, "x": 3, "y": 2}]
    columns = {"story": "id", "ratings.Fun": "fun", "ratings.Sad": "sad", "ratings.Joy": ["x", "y"]}
    found = _read(tmp_path, rows, columns=columns)
    assert found.frame[["criterion", "repeat", "rating"]].astype(object).where(
        lambda f: f.notna(), None
    ).to_numpy().tolist() == [
        ["Fun", 0, 4.0],
        ["Fun", 1, 5.0],
        ["Sad", None, 1.0],
        ["Joy", 0, 3.0],
        ["Joy", 1, 2.0],
    ]


@pytest.mark.parametrize(
    ("ratings", "said", "means"),
    [
        ([1, 2, 3], None, False),
        ([1.0, 2.5, 3.0], None, True),
        ([1, 2, 3], "means", True),
        ([1.0, 2.5, 3.0], "single", False),
    ],
)
def test_points_of_the_scale_are_single_ratings_unless_said_otherwise(
    tmp_path: Path, ratings: list[float], said: Any, means: bool
) -> None:
    rows = [{"story": f"s{i}", "criterion": "Fun", "rating": r} for i, r in enumerate(ratings)]
    write_folder(tmp_path / "in", _read(tmp_path, rows, ratings=said))
    (matrix,) = build(read([tmp_path / "in"]))
    assert matrix.means == (means,)
    assert matrix.imported == (True,)


def test_the_step_of_a_known_scale_decides(tmp_path: Path) -> None:
    rows = [{"story": f"s{i}", "criterion": "Half", "rating": r} for i, r in enumerate((1, 2.5))]
    criteria = [Criterion("Half", "HA", "how good", Scale(1, 5, 0.5))]
    write_folder(tmp_path / "in", _read(tmp_path, rows, criteria=criteria))
    assert build(read([tmp_path / "in"]))[0].means == (False,)


def test_diagnose_tests_single_ratings_and_refuses_means(tmp_path: Path) -> None:
    for add, tested in ((0, True), (0.5, False)):
        frame = _minimum()
        frame["rating"] = frame["rating"] + add
        frame.to_csv(tmp_path / "r.csv", index=False)
        write_folder(tmp_path / "in", read_ratings(tmp_path / "r.csv", dataset=open_dataset("demo")))
        assert (_diagnosed(tmp_path / "in", "stuck")["p"] is not None) == tested


@pytest.mark.parametrize(
    ("row", "options", "sentence", "hint"),
    [
        (
            {"story_id": "a", "metric": "Fun", "score": 3},
            {},
            "columns 'story', 'criterion', 'rating' missing",
            "--column story=story_id --column criterion=metric --column rating=score",
        ),
        ({"story": "a", "rating": 3}, {}, "column 'criterion' missing", "--column criterion==NAME"),
        (
            {"story": "a", "criterion": "Fun", "rating": 3, "day": 1},
            {},
            "column 'day' is not known",
            "--set leave_out=day",
        ),
        (
            {"story": "a", "criterion": "Fun", "rating": 3, "repeat": 1.5},
            {},
            "row 1, column 'repeat': not the number of a repeat",
            None,
        ),
        (
            {"story": "a", "criterion": "Fun", "rating": None},
            {},
            "neither a rating nor a status",
            "--set unrated=no_rating",
        ),
        (
            {"story": "a", "criterion": "Fun", "rating": None},
            {"unrated": "ok"},
            "the row has no rating, but its status says that there is one",
            None,
        ),
        ({"story": "a", "criterion": "Fun", "rating": "NA"}, {}, "not a rating; found 'NA'", "missing==NA"),
        ({"story": "a", "criterion": "Fun", "rating": 3}, {"leave_out": ["dya"]}, "column 'dya' is not known", None),
        (
            {"story": "a", "criterion": "Fun", "rating": 3},
            {"columns": {"score": "rating"}},
            "column map field 'score' is not known",
            None,
        ),
    ],
)
def test_what_is_wrong_is_named_with_what_mends_it(
    tmp_path: Path, row: dict[str, Any], options: dict[str, Any], sentence: str, hint: str | None
) -> None:
    with pytest.raises(JudgeError) as caught:
        _read(tmp_path, [row], **options)
    assert sentence in str(caught.value)
    assert hint is None or hint in str(mend(caught.value))


def test_rows_without_a_rating_get_the_status_that_was_said(tmp_path: Path) -> None:
    rows = [{"story": "a", "criterion": "Fun", "rating": None}, {"story": "b", "criterion": "Fun", "rating": 2}]
    found = _read(tmp_path, rows, unrated="no_rating")
    assert found.frame["status"].tolist() == ["no_rating", "imported"]


def test_two_texts_of_one_story_are_refused(tmp_path: Path) -> None:
    rows = [{"story": "a", "criterion": c, "rating": 3, "text": t} for c, t in (("Fun", "One."), ("Sad", "Two."))]
    with pytest.raises(DataError, match="row 2: the text of story 'a' differs from an earlier row's"):
        _read(tmp_path, rows)
