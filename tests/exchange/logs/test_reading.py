"""What is refused, rescaled, renamed and told of logs, whichever tool wrote them."""

from __future__ import annotations

import json
import struct
import time
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from judge.cli.main import main
from judge.exchange.imported_folder import write_folder
from judge.exchange.logs import inspect_log as zip_members
from judge.exchange.logs.as_import import read_logs
from judge.exchange.logs.fields import LogFacts, LogOptions, Places, at, loss_of
from judge.exchange.logs.tools import TOOLS
from judge.exchange.ratings_file import read_ratings
from judge.ratings.ratings_table import read

FILES = Path(__file__).parent / "files"
LOGS = {
    "inspect": FILES / "inspect-0.3.285.eval",
    "lm-eval": next((FILES / "lm_eval-0.4.13" / "mock-judge").glob("samples_rate_*")),
    "promptfoo": FILES / "promptfoo-0.123.1.json",
    "deepeval": FILES / "deepeval-4.3.1.json",
    "mlflow": FILES / "mlflow-3.17.2.jsonl",
    "phoenix": FILES / "phoenix-20.26.1.json",
    "langfuse": FILES / "langfuse-5.0.4.json",
}


def _code(call: list[str]) -> int:
    """The exit code of a command."""
    with pytest.raises(SystemExit) as ended:
        main(call)
    return int(ended.value.code or 0)


def _says(capsys: pytest.CaptureFixture[str], code: int, *call: str) -> str:
    assert _code(["import", *call]) == code
    return " ".join(capsys.readouterr().err.replace("│", " ").split())


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_a_file_that_is_no_log_gives_a_sentence(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for content in ('{"results": [{"x": 1}], "testCases": 3', '{"a": {"b": 1}}', "[1]", "", '"words"'):
        file = tmp_path / "log.json"
        file.write_text(content, encoding="utf-8")
        said = _says(capsys, 1, str(file), "--as", name, "-o", str(tmp_path / "out"))
        assert said.startswith("error: ")
        assert "log.json" in said
        assert not (tmp_path / "out").exists()
    assert "cannot be read" in _says(capsys, 1, str(tmp_path / "none.json"), "--as", name)


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_a_log_that_was_cut_off_gives_a_sentence(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raw = LOGS[name].read_bytes()
    file = tmp_path / LOGS[name].name
    file.write_bytes(raw[: len(raw) * 2 // 3])
    said = _says(capsys, 1, str(file), "--as", name, "-o", str(tmp_path / "out"))
    assert said.startswith("error: ")
    assert file.name in said


def test_scores_are_rescaled_only_when_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = [str(LOGS["deepeval"]), "--set", "leave_out=Surprise [GEval]"]
    assert _code(["import", *log, "-o", str(tmp_path / "plain")]) == 0
    plain = read([tmp_path / "plain"]).frame["rating"].dropna().tolist()
    named = ["--criterion", "Coherence=Coherence [GEval]", "--criteria", "hanna", "--rescale", "0-1"]
    assert _code(["import", *log, *named, "-o", str(tmp_path / "hanna")]) == 0
    table = read([tmp_path / "hanna"])
    assert table.frame["rating"].dropna().tolist() == pytest.approx([1 + 4 * value for value in plain])
    assert set(table.frame["criterion"]) == {"Coherence"}
    capsys.readouterr()
    assert "no target scale" in _says(capsys, 1, *log, "--rescale", "0-1", "-o", str(tmp_path / "x"))


def test_what_changes_nothing_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["-o", str(tmp_path / "x")]
    only = [str(LOGS["mlflow"]), "--set", "leave_out=coherence,length", *out]
    assert "--rescale changes nothing" in _says(capsys, 1, *only, "--rescale", "0-1")
    assert "--set scale changes nothing" in _says(capsys, 1, *only, "--set", "scale=1-5")
    assert "is no range" in _says(capsys, 1, *only, "--rescale", "1")
    assert "criterion of the log 'Funny'" in _says(capsys, 1, str(LOGS["mlflow"]), "--set", "leave_out=Funny", *out)
    assert "field 'storey'" in _says(capsys, 1, str(LOGS["mlflow"]), "--column", "storey=x", *out)
    assert "no record has 'info.x'" in _says(capsys, 1, str(LOGS["mlflow"]), "--column", "judge=info.x", *out)
    both = [str(LOGS["mlflow"]), str(LOGS["mlflow"])]
    assert "is the same log as" in _says(capsys, 1, *both, *out)


def test_words_need_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = _says(capsys, 1, str(LOGS["langfuse"]), "-o", str(tmp_path / "x"))
    assert "genre has words, whose labels are not known" in said
    assert "--labels genre=tale" in said


def test_what_the_log_could_not_tell_stands_in_the_manifest_and_under_tables(tmp_path: Path) -> None:
    assert _code(["import", str(LOGS["inspect"]), "-o", str(tmp_path / "out")]) == 0
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    log = manifest["log"]
    assert log["tool"] == "inspect"
    assert log["lost"] == {"error": 8, "missing": 4, "unparsed": 1, "filtered": 1}
    assert set(log["identified"]) >= {"story", "criterion", "judge"}
    notes = read([tmp_path / "out"]).facts[0].notes
    assert any("content filter" in note for note in notes)
    assert any("no grading model" in note for note in notes)


def test_an_archive_that_would_fill_the_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "bomb.eval"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", b"0" * 50_000_000)
    with pytest.raises(zip_members.DataError, match="more than any log needs"):
        list(TOOLS["inspect"].read(file, LogOptions(), LogFacts()))
    # A member that says it is short, and is not.
    raw = bytearray(LOGS["inspect"].read_bytes())
    at_end = raw.rfind(b"PK\x01\x02", 0, raw.rfind(b"header.json"))
    struct.pack_into("<I", raw, at_end + 24, 10)
    file.write_bytes(raw)
    with pytest.raises(zip_members.DataError, match="cannot be unpacked"):
        list(TOOLS["inspect"].read(file, LogOptions(), LogFacts()))


def test_without_pyarrow_a_packed_log_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(Exception, match=r"zstandard.*\[data\]"):
        list(TOOLS["inspect"].read(LOGS["inspect"], LogOptions(), LogFacts()))


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_a_table_written_out_and_read_in_again_is_the_same(name: str, tmp_path: Path) -> None:
    more = {"phoenix": ["--labels", "funny=no,yes"], "langfuse": ["--set", "leave_out=genre"]}.get(name, [])
    assert _code(["import", str(LOGS[name]), *more, "-o", str(tmp_path / "out")]) == 0
    first = read([tmp_path / "out"])
    first.frame.to_csv(tmp_path / "out.csv", index=False)
    again = read_ratings(tmp_path / "out.csv", criteria=first.facts[0].criteria, ratings="single")
    second = read([write_folder(tmp_path / "again", again).path])
    pd.testing.assert_frame_equal(second.frame, first.frame)


def test_places() -> None:
    record = {"a": {"b.c": [1, {"d": 2}]}, "e.f": 3}
    assert at(record, "a.b.c.1.d") == 2
    assert at(record, "e.f") == 3
    places = Places({"judge": "=gpt-4"})
    assert places.text("judge", record) == "gpt-4"


def test_errors_are_told_apart() -> None:
    assert loss_of("Error code: 400 - {'error': {'code': 'content_filter'}}") == "filtered"
    assert loss_of("the response was blocked") == "filtered"
    assert loss_of("RATE_LIMIT_EXCEEDED slow down") == "error"
    assert loss_of("max_tokens was reached") == "truncated"


def test_ten_thousand_rows_are_read_in_seconds(tmp_path: Path) -> None:
    line = LOGS["lm-eval"].read_text(encoding="utf-8").splitlines()[0]
    sample = json.loads(line)
    file = tmp_path / "samples_rate_2026-01-01T00-00-00.jsonl"
    with file.open("w", encoding="utf-8") as stream:
        for number in range(10_000):
            stream.write(json.dumps(sample | {"doc_id": number}) + "\n")
    began = time.process_time()
    found = read_logs(TOOLS["lm-eval"], [file], "rate", LogOptions())
    assert len(found.frame) == 10_000
    assert time.process_time() - began < 10
