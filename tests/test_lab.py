"""What is a program of its own stands apart: without `judge/lab` every other command works."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
WITHOUT = """
import sys

class Gone:
    def find_spec(self, name, path=None, target=None):
        if name == "judge.lab" or name.startswith("judge.lab."):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Gone())
"""
# Modules of commands that run what lies in the lab: measures, try, stress make, train, data generate, people.
OF_THE_LAB = {
    "judge.cli.people",
    "judge.exchange.imported_measures",
    "judge.questions.improving",
    "judge.reproduce.released_measures",
    "judge.show.web.people_pages",
    "judge.show.web.trial",
}


def without_lab(code: str, folder: Path) -> str:
    """What a process prints that cannot import `judge.lab`."""
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT + code], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_only_its_own_commands_need_the_lab(tmp_path: Path) -> None:
    code = """
import importlib, pkgutil, judge
for module in pkgutil.walk_packages(judge.__path__, "judge."):
    if not module.name.startswith("judge.lab") and not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("judge.lab"):
                print(module.name)
        except Exception:
            pass
"""
    assert set(without_lab(code, tmp_path).split()) == OF_THE_LAB


def test_the_demo_runs_and_is_measured_without_the_lab(tmp_path: Path) -> None:
    # The demo prints a summary of its run, and writes a page.
    code = """
from judge.cli.main import main
for line in ("demo --quiet", "correlate runs/demo --resamples 20"):
    try:
        main(line.split())
    except SystemExit as left:
        assert not left.code
"""
    printed = without_lab(code, tmp_path)
    assert "demo: 48 stories" in printed
    assert "Kendall's tau-b with the labels" in printed
    assert (tmp_path / "runs" / "demo" / "report.html").is_file()


def test_the_check_can_fail(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"judge\.lab"):
        without_lab("import judge.lab.self_test", tmp_path)
