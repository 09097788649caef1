"""Completion by the Tab key: what shells are given, and what they are answered."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from judge.cli.main import COMMANDS
from tests.golden_tables.calls import judge

ROOT = Path(__file__).resolve().parents[2]
SHELLS = ("bash", "zsh", "fish")


@pytest.fixture
def tool(tmp_path: Path) -> Path:
    """A folder with nothing but a `judge` in it, as the shells' scripts call it."""
    program = tmp_path / "programs" / "judge"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m judge "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return program.parent


def call(tool: Path, *command: str) -> str:
    env = os.environ | {"PATH": f"{tool}{os.pathsep}{os.environ['PATH']}", "HOME": str(tool.parent)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    return done.stdout + done.stderr


def asked(monkeypatch: pytest.MonkeyPatch, shell: str, *words: str) -> list[str]:
    """What the program answers a shell for the last of these words; asked in this process."""
    line = " ".join(("judge", *words))
    told = {"bash": {"COMP_WORDS": line, "COMP_CWORD": str(len(words))}}.get(shell, {"_TYPER_COMPLETE_ARGS": line})
    told |= {"_JUDGE_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    with monkeypatch.context() as shells:
        for name, value in told.items():
            shells.setenv(name, value)
        code, out, err = judge([])
    assert (code, err) == (0, "")
    return out.split()


def test_every_command_is_named_in_reading_order(monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked(monkeypatch, "bash", "") == list(COMMANDS)


@pytest.mark.parametrize("shell", SHELLS)
def test_commands_parts_and_options_are_completed(shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    none = [] if shell != "zsh" else ["_files"]
    for words, answer in ((["corr"], "correlate"), (["audit", "sam"], "sample"), (["correlate", "--lev"], "--level")):
        assert answer in " ".join(asked(monkeypatch, shell, *words))
        assert asked(monkeypatch, shell, *words[:-1], "zzz") == none
    assert asked(monkeypatch, shell, "no-such-command", "zz") == none


def test_naming_commands_imports_none() -> None:
    code = """
import sys
from judge.cli.main import COMMANDS, main
try:
    main([])
except SystemExit as left:
    assert left.code == 0
print([module for module, *_ in COMMANDS.values() if f"judge.cli.{module}" in sys.modules])
"""
    told = {"COMP_WORDS": "judge co", "COMP_CWORD": "1", "_JUDGE_COMPLETE": "complete_bash", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | told, capture_output=True, text=True, timeout=60, check=True
    )
    named = [name for name in COMMANDS if name.startswith("co")]
    assert done.stdout.split("\n") == [*named, "[]", ""]


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_shown_and_installed_for_the_shell_that_is_named(
    shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    shown, installed = judge(["--show-completion", shell]), judge(["--install-completion", shell])
    assert (shown[0], installed[0]) == (0, 0)
    assert f"complete_{shell}" in shown[1]
    (path,) = [word for word in installed[1].replace(";", " ").split() if word.startswith(str(tmp_path))]
    assert Path(path).read_text(encoding="utf-8") == shown[1]


def test_without_a_name_the_shell_around_is_taken(tool: Path) -> None:
    assert "complete_bash" in call(tool, "bash", "-c", "judge --show-completion; true")


@pytest.mark.parametrize("option", ["--show-completion", "--install-completion"])
def test_other_shells_and_places_get_a_sentence(option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, _, said = judge([option, "tcsh"])
    assert code == 1
    assert "the shell 'tcsh' is not known" in said
    assert "(known: bash, fish, zsh)" in said
    code, _, said = judge([option, "bash", "zsh"])
    assert code == 1
    assert "takes one shell" in said
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    code, _, said = judge(["--install-completion", "fish"])
    assert code == 1
    assert "cannot be written" in said
    assert "judge --show-completion fish" in said


def test_bash_itself_completes(tool: Path) -> None:
    line = 'eval "$(judge --show-completion bash)"; COMP_WORDS=(judge corr); COMP_CWORD=1; _judge_completion judge; '
    assert call(tool, "bash", "--norc", "-c", line + 'echo "${COMPREPLY[@]}"; complete -p judge').splitlines() == [
        "correlate",
        "complete -o default -F _judge_completion judge",
    ]


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_itself_completes(tool: Path) -> None:
    call(tool, "judge", "--install-completion", "fish")
    found = call(tool, "fish", "-c", 'complete -C "judge corr"; complete -C "judge correlate --lev"').splitlines()
    assert [line.partition("\t")[0] for line in found] == ["correlate", "--level"]
