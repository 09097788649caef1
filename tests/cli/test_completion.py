"""Completion by the Tab key: what shells are given, and what they are answered."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from judge.cli.main import COMMANDS

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


def call(tool: Path, *command: str, code: int = 0, **environment: str) -> str:
    env = os.environ | {"PATH": f"{tool}{os.pathsep}{os.environ['PATH']}", "HOME": str(tool.parent)} | environment
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
    return done.stdout + done.stderr


def asked(tool: Path, shell: str, *words: str) -> list[str]:
    """What the program answers a shell for the last of these words."""
    line = " ".join(("judge", *words))
    told = {"bash": {"COMP_WORDS": line, "COMP_CWORD": str(len(words))}}.get(shell, {"_TYPER_COMPLETE_ARGS": line})
    told |= {"_JUDGE_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    return call(tool, "judge", **told).split()


def test_every_command_is_named_in_reading_order(tool: Path) -> None:
    assert asked(tool, "bash", "") == list(COMMANDS)


@pytest.mark.parametrize("shell", SHELLS)
def test_commands_parts_and_options_are_completed(shell: str, tool: Path) -> None:
    for words, answer in ((["corr"], "correlate"), (["audit", "sam"], "sample"), (["correlate", "--lev"], "--level")):
        assert answer in " ".join(asked(tool, shell, *words))
        assert asked(tool, shell, *words[:-1], "zzz") == ([] if shell != "zsh" else ["_files"])
    assert asked(tool, shell, "no-such-command", "zz") == ([] if shell != "zsh" else ["_files"])


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
def test_the_script_is_shown_and_installed_for_the_shell_that_is_named(shell: str, tool: Path) -> None:
    script = call(tool, "judge", "--show-completion", shell)
    assert f"complete_{shell}" in script
    said = call(tool, "judge", "--install-completion", shell)
    (path,) = [word for word in said.replace(";", " ").split() if word.startswith(str(tool.parent))]
    assert Path(path).read_text(encoding="utf-8") == script


def test_without_a_name_the_shell_around_is_taken(tool: Path) -> None:
    assert "complete_bash" in call(tool, "bash", "-c", "judge --show-completion; true")


@pytest.mark.parametrize("option", ["--show-completion", "--install-completion"])
def test_other_shells_and_places_get_a_sentence(option: str, tool: Path) -> None:
    said = call(tool, "judge", option, "tcsh", code=1)
    assert "the shell 'tcsh' is not known" in said
    assert "(known: bash, fish, zsh)" in said
    assert "takes one shell" in call(tool, "judge", option, "bash", "zsh", code=1)
    (tool / "file").write_text("", encoding="utf-8")
    said = call(tool, "judge", "--install-completion", "fish", code=1, HOME=str(tool / "file"))
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
