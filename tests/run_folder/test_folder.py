"""Result folders: where they lie, what RUN means, who may write, what the manifest says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from judge.answers.journal import JournalWriter
from judge.asking.run_folder import folder_for, judge_slug, lock, read_manifest, resolve, write_manifest
from judge.asking.run_folder.layout import definition_of
from judge.asking.run_folder.manifest import environment
from judge.base.errors import RunFolderError


def results(path: Path) -> Path:
    path.mkdir(parents=True)
    JournalWriter(path / "journal.sqlite").close()
    return path


def test_judges_become_folder_names() -> None:
    assert judge_slug("openai/meta-llama/Llama-2-13b-chat-hf") == "openai-meta-llama-Llama-2-13b-chat-hf"
    assert judge_slug("openai/m", "rev/1") == "openai-m@rev-1"
    assert "/" not in judge_slug("../../etc/passwd")
    assert judge_slug("...") == "judge"


def test_results_lie_beside_run_yaml_or_in_a_folder_named_after_the_run(tmp_path: Path) -> None:
    assert folder_for(tmp_path / "run.yaml", "r", "surface").path == tmp_path / "surface"
    assert folder_for(tmp_path / "pilot.yaml", "r", "surface").path == tmp_path / "r" / "surface"


def test_a_run_is_a_file_its_folder_or_one_result_folder(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text("name: r\n")
    (tmp_path / "pilot.yaml").write_text("name: p\n")
    a, b = results(tmp_path / "judge-a"), results(tmp_path / "judge-b")
    c = results(tmp_path / "p" / "judge-c")
    (tmp_path / "notes").mkdir()
    assert [f.path for f in resolve([tmp_path])] == [a, b]
    assert [f.path for f in resolve([tmp_path / "run.yaml"])] == [a, b]
    assert [f.path for f in resolve([tmp_path / "pilot.yaml"])] == [c]
    assert [f.path for f in resolve([b, tmp_path, str(a)])] == [b, a]


def test_a_run_without_results_or_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="does not exist"):
        resolve([tmp_path / "none"])
    (tmp_path / "run.yaml").write_text("name: r\n")
    with pytest.raises(RunFolderError, match="has no results yet") as caught:
        resolve([tmp_path])
    assert caught.value.hint == f"judge run {tmp_path}"


def test_a_folder_of_runs_names_them_and_an_empty_one_says_what_a_run_is(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(RunFolderError, match=r"holds neither run\.yaml nor results"):
        resolve([tmp_path / "empty"])
    for name in ("one", "two"):
        results(tmp_path / name / "judge-a")
    for read in (lambda: resolve([tmp_path]), lambda: definition_of(tmp_path)):
        with pytest.raises(RunFolderError, match="holds 2 runs and is none itself") as caught:
            read()
        assert caught.value.hint == f"name one or several: {tmp_path / 'one'} {tmp_path / 'two'}"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("report.html", b"<style>\n  a: b: c\n</style>", "no run definition"),
        ("journal.sqlite", b"SQLite format 3\0\xff\xfe", "no run definition"),
        ("table.csv", b"a,b\n1,2\n", "no run definition"),
        ("empty.yaml", b"", "no run definition"),
        ("pilot.yaml", b"name: a: b\n", "line 1, column 8"),
        ("bundle.zip", b"PK\3\4\xff", "is an archive"),
    ],
)
def test_a_file_that_is_no_run_gets_a_sentence(name: str, content: bytes, words: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(RunFolderError, match=words) as caught:
        resolve([file])
    assert str(file) in str(caught.value)
    assert caught.value.hint is not None
    assert ("--verify" in caught.value.hint) == (name == "bundle.zip")
    assert "judge run" not in caught.value.hint


HOLDER = """
import sys, time
from pathlib import Path
from judge.asking.run_folder import lock
with lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_process_is_told_who_writes_and_a_killed_one_leaves_no_lock(tmp_path: Path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(RunFolderError, match=rf"in use by another process \(pid {holder.pid}\)"), lock(tmp_path):
        pass
    holder.kill()
    holder.communicate(timeout=10)
    with lock(tmp_path):
        assert (tmp_path / ".lock").exists()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunFolderError, match="cannot be written"), lock(tmp_path / "file" / "results"):
        pass


def test_the_manifest_is_written_whole_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    assert read_manifest(path) == {}
    write_manifest(path, {"a": [1, "ü"]})
    assert read_manifest(path) == {"a": [1, "ü"]}
    assert [p.name for p in tmp_path.iterdir()] == ["manifest.json"]
    with pytest.raises(TypeError):
        write_manifest(path, {"a": object()})
    assert read_manifest(path) == {"a": [1, "ü"]}
    path.write_text('{"a": ')
    with pytest.raises(RunFolderError, match="not valid JSON"):
        read_manifest(path)


def test_the_environment_holds_versions_and_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-4711")
    found = environment()
    assert found["packages"]["orjson"]
    assert "sk-secret-4711" not in json.dumps(found)
