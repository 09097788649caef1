"""What the distribution promises: a version of one source, and every shipped file inside the wheel."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path

import judge
from judge.base.files import package_file, shipped
from judge.reproduce.cell import STUDIES

ROOT = Path(__file__).resolve().parents[1]


def test_the_version_has_one_source() -> None:
    assert version("storyjudge") == judge.__version__


def test_a_release_is_called_alike_everywhere() -> None:
    """In the citation, in the newest entry of the changelog, and in the README's wheel."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    number, date = re.findall(r"^## \[(\d[\d.]*)\] - ([\d-]+)$", changelog, re.MULTILINE)[0]
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {judge.__version__}\ndate-released: {date}\n" in cited
    assert number == judge.__version__
    assert f"dist/storyjudge-{judge.__version__}-py3" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_public_names_are_complete_and_sorted() -> None:
    assert list(judge.__all__) == sorted(judge.__all__)
    for name in judge.__all__:
        assert getattr(judge, name) is not None


def test_every_shipped_definition_is_listed_for_the_wheel() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    listed = {source for source in build["force-include"] if source.startswith("runs/")}
    assert listed == {f"runs/{path.parent.name}/run.yaml" for path in (ROOT / "runs").glob("*/run.yaml")}


def test_the_wheel_holds_prompts_definitions_and_data_and_no_results(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--wheel-dir",
        str(tmp_path),
        str(ROOT),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    for path in shipped("prompts").rglob("*.*"):
        assert f"judge/prompts/{path.relative_to(shipped('prompts')).as_posix()}" in names
    assert "judge/runs/demo/run.yaml" in names
    assert "judge/inputs/datasets/demo_stories.jsonl" in names
    assert "judge/backends/surface/model.json" in names
    assert "judge/asking/plan/prices.json" in names
    assert {"judge/asking/in_force/models.json", "judge/asking/in_force/endpoints.yaml"} <= names
    assert "judge/reproduce/published_data/hanna_published.csv" in names
    for study in STUDIES:
        assert f"judge/reproduce/published_data/{study}_tables.csv" in names
    assert "judge/reproduce/published_data/openmeva_published.csv" in names
    assert "judge/py.typed" in names
    assert not [name for name in names if name.endswith((".sqlite", ".pyc"))]
    assert not [name for name in names if "demo_originals" in name or name.startswith("tests/")]
    assert package_file("asking", "plan", "prices.json").is_file()
