"""Files of rows that the program writes are read by pandas and, where a command reads such files, by this command."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from judge.cli.main import main
from judge.demo import run_demo


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's result folder: 48 stories, two Eval-Prompts, three repeats by the control judge."""
    folder, _ = run_demo(tmp_path_factory.mktemp("runs") / "demo", quiet=True)
    return folder


ANSWERS = [
    {"text": f"Rating: {rating}\n\nIt says #{rating}, and ends.", "story": f"s{story}", "criterion": "Coherence", **who}
    for who, ratings in (
        ({}, (4, 2, 3, 5, 1)),
        ({"rater": "ann"}, (4, 1, 3, 5, 2)),
        ({"rater": "bob"}, (5, 2, 2, 4, 1)),
    )
    for story, rating in enumerate(ratings)
]


def _run(*words: object) -> None:
    with pytest.raises(SystemExit) as end:
        main([str(word) for word in words])
    assert end.value.code in (0, None), words


def _rows(path: Path) -> pd.DataFrame:
    if path.suffix == ".json":
        value = json.loads(path.read_text(encoding="utf-8"))
        return pd.DataFrame(value if isinstance(value, list) else value["rows"])
    return pd.read_json(path, lines=True) if path.suffix == ".jsonl" else pd.read_csv(path)


COUNTS = {"ratings": 2016, "parse": 1728}
"""Rows that a command writes of the demo: those of `ratings` hold people's too."""


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
@pytest.mark.parametrize("words", ["ratings", "parse"])
def test_rows_are_read_by_pandas_and_imported_and_checked(
    words: str, suffix: str, demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / f"rows{suffix}"
    _run(words, demo, "-o", file)
    assert len(_rows(file)) == COUNTS[words]
    _run("import", file, *(["--dataset", "demo"] if words == "parse" else []))
    _run("ratings", "runs/rows", "-o", "again.csv")
    assert len(_rows(tmp_path / "again.csv")) == 2016
    if words == "ratings":
        _run("check", file, "-o", "page.html", "--resamples", 20, "--format", "csv")


@pytest.mark.parametrize("words", ["correlate --ci none", "consistency", "coverage", "status"])
def test_tables_are_the_same_rows_in_every_file(words: str, demo: Path, tmp_path: Path) -> None:
    command, *options = words.split()
    for suffix in (".json", ".csv"):
        _run(command, demo, *options, "-o", tmp_path / f"t{suffix}")
    value = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
    tables = value if isinstance(value, list) else [value]
    for number, table in enumerate(tables, 1):
        file = tmp_path / ("t.csv" if number == 1 else f"t-{number}.csv")
        read = pd.read_csv(file).astype(object)
        written = pd.DataFrame(table["rows"], columns=read.columns, dtype=object)
        written = written.where(written.notna() & (written != ""), None)  # a CSV has one kind of empty cell
        pd.testing.assert_frame_equal(read.where(read.notna(), None), written)  # but for a last bit
        assert table["signature"] in (tmp_path / "t.csv.notes.txt").read_text(encoding="utf-8")
    assert len(list(tmp_path.glob("t*.csv"))) == len(tables)


@pytest.mark.parametrize("form", ["csv", "json", "jsonl"])
def test_rows_on_stdout_are_rows_alone(
    form: str, demo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in ("ratings", "parse"):
        _run(command, demo, "--format", form)
        file = tmp_path / f"{command}.{form}"
        file.write_text(capsys.readouterr().out, encoding="utf-8")
        assert len(_rows(file)) == COUNTS[command]


def test_parsed_answers_are_imported_without_an_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in ANSWERS), encoding="utf-8")
    _run("parse", "answers.jsonl", "-o", "mine.csv")
    assert list(pd.read_csv("mine.csv")["rating"]) == [float(line["text"][8]) for line in ANSWERS]
    assert "15 answers: 15 ok" in Path("mine.csv.notes.txt").read_text(encoding="utf-8")
    _run("import", "mine.csv")
    _run("check", "mine.csv", "-o", "page.html", "--resamples", 20)
    _run("correlate", "runs/mine", "--ci", "none", "-o", "c.csv")
    judged = pd.read_csv("c.csv").set_index("judge").loc["mine"]
    assert judged["n"] == 5
    assert judged["value"] > 0.7
    capsys.readouterr()
    texts = [
        {**line, "id": line["story"], "story": "A ship left the harbour at dawn, with nobody aboard."}
        for line in ANSWERS
    ]
    texts = [{**line, "model": "m", "story": f"{line['story']} {line['id']}"} for line in texts]
    Path("texts.jsonl").write_text("".join(json.dumps(line) + "\n" for line in texts), encoding="utf-8")
    _run("parse", "texts.jsonl", "-o", "texts.csv")
    _run("import", "texts.csv")
    said = capsys.readouterr().out
    assert "5 ratings by 1 judge, 10 by people, 5 stories" in said
    assert "not read: line (its name says that it counts or numbers something), model (by its name)" in said


def test_exports_are_read_by_pandas(demo: Path, tmp_path: Path) -> None:
    _run("export", demo, "--as", "irw", "-o", tmp_path / "irw")
    assert sum(len(pd.read_csv(file)) for file in (tmp_path / "irw").glob("*.csv")) == 2016


PEOPLE = {"s0": 5, "s1": 2, "s2": 3, "s3": 4, "s4": 1}


def test_answers_with_peoples_ratings_come_to_correlations_without_an_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [
        {"text": f"Rating: {rating}", "reply": story, "scene": "even" if int(story[1]) % 2 == 0 else "odd"}
        | {"criterion": "Coherence", "repeat": repeat, "model": "gpt-4", "human": PEOPLE[story]}
        for repeat in (0, 1)
        for story, rating in zip(PEOPLE, (4, 2, 3, 5, 1), strict=True)
    ]
    Path("answers.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    _run("parse", "answers.jsonl", "-o", "parsed.csv")
    pd.read_csv("parsed.csv").to_csv("again.csv", index=False)
    for file in ("parsed", "again"):
        _run("import", f"{file}.csv", "-o", file)
    capsys.readouterr()
    _run("correlate", "parsed", "again", "--format", "json", "--ci", "none")
    made = json.loads(capsys.readouterr().out)
    judged = [row for row in (made if isinstance(made, list) else [made])[0]["rows"] if row["judge"] == "gpt-4"]
    # By hand: 1 of 10 pairs of the five stories is turned round, (10 - 2) / 10.
    assert [row["value"] for row in judged] == pytest.approx([0.8] * len(judged))
    assert {row["n"] for row in judged} == {5}


def test_parsed_answers_without_an_id_for_each_story_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [{"text": f"Rating: {at}", "criterion": "Coherence"} for at in (1, 2, 3)]
    Path("answers.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    _run("parse", "answers.jsonl", "-o", "parsed.csv")
    with pytest.raises(SystemExit) as end:
        main(["import", "parsed.csv"])
    assert end.value.code == 1
    assert "no column could be identified as the story's name" in capsys.readouterr().err
