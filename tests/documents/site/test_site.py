"""The site builds strictly, offline, and fetches nothing when it is read. Needs the extra `docs`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.documents.blocks import ROOT
from tests.documents.tutorials import tutorials

pytest.importorskip("mkdocs")
pytest.importorskip("jupytext")


def build(config: Path, output: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(config), "-d", str(output)]
    env = os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONWARNINGS": "default"}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=200)


def test_the_site_builds_with_notebooks(tmp_path: Path) -> None:
    done = build(ROOT / "mkdocs.yml", tmp_path / "site")
    assert done.returncode == 0, done.stderr
    made = {path.stem for path in (tmp_path / "site/tutorials").glob("*.ipynb")}
    assert made == {path.stem for path in tutorials()}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[a](missing.md)", "missing.md"),
        ("[a](index.md#nowhere)", "nowhere"),
        ('<script src="https://example.org/x.js"></script>', "from the network"),
    ],
)
def test_what_is_broken_fails(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text(f"# One\n\n{text}\n")
    whole = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    config = whole.split("\nnav:\n")[0].replace("tests/documents", f"{ROOT}/tests/documents")
    (tmp_path / "mkdocs.yml").write_text(config + "\nnav: [index.md]\n")
    done = build(tmp_path / "mkdocs.yml", tmp_path / "site")
    assert done.returncode != 0
    assert said in done.stdout + done.stderr
