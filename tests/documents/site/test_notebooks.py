"""What the notebooks of tutorials hold, and that one runs whole in a kernel of its own. Needs the extra `docs`."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from tests.documents.blocks import blocks
from tests.documents.tutorials import can_run, environment_for, tutorials

pytest.importorskip("jupytext")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose kernels find `judge` and this Python."""
    for name, value in environment_for(tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / ".ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / ".jupyter"))
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}{os.pathsep}{Path(sys.executable).parent}")
    return tmp_path


def _words(text: str) -> list[list[str]]:
    """Words of each line without marks: a kernel asks programs for colour, which marks them in another way."""
    return [re.sub(r"\x1b\[[\d;]*m|>>|<<", "", line).split() for line in text.strip("\n").splitlines()]


def test_every_cell_of_a_notebook_runs(started: Path) -> None:
    # One notebook with cells of both kinds: what the others run is what their pages show, which test_tutorials.py runs.
    from tests.documents.site.notebooks import notebook

    (page,) = [path.read_text(encoding="utf-8") for path in tutorials() if path.stem == "own_data"]
    made = notebook(page)
    made.cells = [cell for cell in made.cells if can_run(cell.metadata.get("needs"), None)]
    cells = [cell for cell in made.cells if cell.cell_type == "code"]
    assert {cell.source.startswith("%%bash\n") for cell in cells} == {True, False}
    shown = ["".join(output.text for output in cell.outputs) for cell in cells]
    nbclient.NotebookClient(made, timeout=250, resources={"metadata": {"path": str(started)}}).execute()
    for cell, expected in zip(cells, shown, strict=True):
        assert cell.execution_count is not None
        assert [output for output in cell.outputs if output.output_type == "error"] == []
        if expected:
            printed = "".join(output.text for output in cell.outputs if output.get("name") == "stdout")
            assert _words(printed) == _words(expected)


@pytest.mark.parametrize("path", tutorials(), ids=lambda path: path.stem)
def test_a_notebook_holds_the_pages_blocks_and_outputs(path: Path) -> None:
    from tests.documents.site.notebooks import notebook

    page = path.read_text(encoding="utf-8")
    cells = [cell for cell in notebook(page).cells if cell.cell_type == "code"]
    run = [block for block in blocks(page) if block.kind in ("bash", "python")]
    assert [cell.source.startswith("%%bash\n") for cell in cells] == [block.kind == "bash" for block in run]
    assert [cell.metadata.get("needs") for cell in cells] == [block.needs for block in run]
    assert any(cell.outputs for cell in cells)
