"""`judge data`, as a person types it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from judge.base.errors import DataError, JudgeError, SpecError
from judge.cli.data import app

LINES = (
    '{"id":"a","story_prompt":"p","system":"s","text":"One day.","ratings":[{"criterion":"C","value":4,"rater":"W1"},'
    '{"criterion":"C","value":2,"rater":"W2"}]}\n'
    '{"id":"b","story_prompt":"p","system":"s","text":"Another day."}\n'
)


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("JUDGE_DATA", raising=False)
    monkeypatch.setenv("JUDGE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("JUDGE_CACHE", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def mine(machine: Path) -> Path:
    path = machine / "mine.jsonl"
    path.write_text(LINES)
    return path


def call(*words: object) -> Result:
    return CliRunner().invoke(app, [str(w) for w in words])


def told(*words: object) -> str:
    """What the command prints, where it succeeds."""
    result = call(*words)
    assert result.exception is None, result.exception
    return result.output


def refused(*words: object) -> JudgeError:
    """The mistake that the command names."""
    error = call(*words).exception
    assert isinstance(error, JudgeError), error
    return error


def states(*words: object) -> dict[str, str]:
    table = json.loads(told("list", "--format", "json", *words))
    return {row["name"]: row["state"] for row in table["rows"]}


def test_list_says_what_is_here_and_how_the_rest_comes(machine: Path) -> None:
    found = states()
    assert found["demo"] == "present"
    assert found["mans_roc"] == "fetchable (unverified)"
    assert found["hanna_eval_prompts"] == "needs file (judge data add)"
    assert "no download from there with this program is known" in told("list")


def test_list_names_where_a_file_was_found(studies: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_DATA", str(studies))
    found = states()
    assert found["mans_roc"] == "present (JUDGE_DATA)"
    assert found["hanna"] == "fetchable (unverified)"


def test_check_prints_tables_with_signatures(mine: Path) -> None:
    text = told("check", mine)
    assert "mine: counts" in text
    assert "mine:2|data:b2:" in text
    assert "raters:known (2)" in text
    tables = json.loads(told("check", mine, "--format", "json"))
    assert [t["title"] for t in tables] == [
        f"mine: {t}" for t in ("counts", "scale use", "systems", "text damage", "raters")
    ]
    assert {row["rater"]: row["leniency"] for row in tables[4]["rows"]} == {"W1": 2.0, "W2": -2.0}


def test_check_of_a_broken_file_is_a_sentence(machine: Path) -> None:
    path = machine / "bad.jsonl"
    path.write_text(LINES + LINES)
    assert "row 3, column 'id': the id is already used in row 1; found 'a'" in str(refused("check", path))


def test_show_prints_one_story(mine: Path) -> None:
    assert told("show", mine).startswith("mine · a · by s")
    text = told("show", mine, "b")
    assert "Another day." in text
    assert "Nobody rated this story." in text
    assert "C: 4 (W1), 2 (W2)" in told("show", mine, "a")


def test_show_of_an_unknown_story_names_the_nearest(machine: Path) -> None:
    path = machine / "m.jsonl"
    path.write_text(LINES.replace('"a"', '"12-fusion"'))
    error = refused("show", path, "12-fuson")
    assert "did you mean '12-fusion'" in str(error)


def test_convert_and_add_give_a_table_a_name(machine: Path) -> None:
    table = machine / "t.csv"
    table.write_text("Story,rel\nOne day.,4\nAnother.,5\n")
    columns = ("--column", "text=Story", "--column", "system==gpt-4", "--column", "ratings.Relevance=rel")
    assert "2 stories" in told("convert", table, machine / "t.jsonl", *columns)
    told("add", "mine", table, *columns)
    assert states()["mine"] == "present (registered)"
    text = told("show", "mine", "3")
    assert "by gpt-4" in text
    assert "Relevance: 5" in text
    native = [json.loads(line) for line in (machine / "t.jsonl").read_text().splitlines()]
    assert native[0]["ratings"] == [{"rater": None, "criterion": "Relevance", "value": 4.0}]


def test_add_tells_where_a_studys_file_lies(studies: Path) -> None:
    told("add", "mans_wp", studies / "openmeva" / "mans_wp.json")
    assert states()["mans_wp"] == "present (registered)"
    assert "131-gpt_kg" in told("check", "mans_wp")


@pytest.mark.parametrize(
    ("words", "kind", "sentence"),
    [
        (("add", "mine", "none.jsonl"), DataError, "there is no such file"),
        (("add", "demo", "mine.jsonl"), SpecError, "demo comes with the program"),
        (("add", "mans_wp", "mine.jsonl", "--column", "text=a"), SpecError, "mans_wp has its own reader"),
        (("check", "mine.jsonl", "--column", "text"), SpecError, "'text' is not FIELD=COLUMN"),
        (("check", "mans_rock"), SpecError, "did you mean 'mans_roc'"),
        (("check", "hanna"), DataError, "is not on this machine"),
        (("convert", "mine.jsonl", "mine.jsonl"), DataError, "exists already"),
        (("fetch", "hanna_eval_prompts"), SpecError, "has no public address"),
    ],
)
def test_mistakes_get_a_sentence(
    words: tuple[str, ...],
    kind: type[JudgeError],
    sentence: str,
    mine: Path,
    machine: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(machine)
    error = refused(*words)
    assert isinstance(error, kind)
    assert sentence in str(error)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def publisher(studies: Path, machine: Path) -> Iterator[str]:
    """The real MANS files under their published paths."""
    folder = machine / "www" / "TIGER-AI-Lab" / "TIGERScore" / "6374fd8" / "data" / "evaluation" / "storygen"
    folder.mkdir(parents=True)
    (folder / "mans_roc.json").write_bytes((studies / "openmeva" / "mans_roc.json").read_bytes())
    (folder / "mans_wp.json").write_bytes((studies / "openmeva" / "mans_roc.json").read_bytes())
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(machine / "www")))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_fetch_downloads_once_and_says_that_the_address_is_unverified(publisher: str) -> None:
    text = told("fetch", "mans_roc", "--base-url", publisher)
    assert "openmeva/mans_roc.json: downloaded, checksum right [address unverified]" in text
    assert "was here already" in told("fetch", "mans_roc", "--base-url", publisher)
    assert states()["mans_roc"] == "present (cache)"
    assert "1:686 2:2015 3:1458 4:745 5:96" in told("check", "mans_roc")


def test_fetch_refuses_another_file(publisher: str) -> None:
    assert "is not the released file: its checksum differs" in str(refused("fetch", "mans_wp", "--base-url", publisher))
    assert states()["mans_wp"] == "fetchable (unverified)"
