"""README is short, its examples run, and its promises are those of the program."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import tomllib
from pathlib import Path

import pytest

from judge.demo import run_demo
from judge.version import __version__
from tests.documents.blocks import ROOT, blocks
from tests.golden_tables.calls import judge

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
QUESTIONS = re.findall(r"^\| [^|]+[?.] \| `(judge [^`]+)` \|$", TEXT, re.MULTILINE)


@pytest.fixture(scope="module")
def folder_of_demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("readme")
    with contextlib.chdir(folder):
        run_demo(folder / "runs" / "demo", quiet=True)
    return folder


def test_readme_has_at_most_150_lines() -> None:
    assert TEXT.count("\n") <= 150


@pytest.mark.parametrize("line", QUESTIONS)
def test_each_answer_to_a_question_runs(line: str, folder_of_demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder_of_demo)
    monkeypatch.setenv("JUDGE_HOME", str(folder_of_demo / "home"))
    code, out, err = judge(shlex.split(line)[1:])
    assert code == 0, err
    assert out.strip() or "-o" in line


def test_there_is_a_question_for_the_main_jobs() -> None:
    assert len(QUESTIONS) >= 20


def test_the_python_example_runs(folder_of_demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder_of_demo)
    (code,) = [block.text for block in blocks(TEXT) if block.kind == "python"]
    names: dict[str, object] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(code, "README.md", "exec"), names)  # noqa: S102  the example as printed
    assert len(names["ratings"]) > 1728  # type: ignore[arg-type]
    assert len(names["stories"]) == 48  # type: ignore[arg-type]


def test_extras_and_wheel_are_those_of_the_package() -> None:
    extras = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])
    named = {
        name for row in re.findall(r"^\| (`[a-z`, ]+`) \|", TEXT, re.MULTILINE) for name in re.findall(r"\w+", row)
    }
    assert named == extras - {"dev", "docs", "all"}
    for line in re.findall(r"\[([a-z,]+)\]'", TEXT):
        assert set(line.split(",")) <= extras
    assert f"storyjudge-{__version__}-py3-none-any.whl" in TEXT


def test_commands_of_make_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"\bmake\s([a-z-]+)", TEXT)) <= targets
