"""Datasets by name and path, and what a wrong one is told."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.base.errors import DataError, SpecError
from judge.inputs.datasets import DATASETS, known_datasets, open_dataset

NO_ADDRESS = ("autos_roc", "autos_wp")
NOT_HERE = ("demo", "hanna", "creative_short_stories", "confederacy", *NO_ADDRESS)
"""What has no file among the studies' files; tests of their own read made-up ones."""


@pytest.mark.parametrize("name", [n for n in DATASETS if n not in NOT_HERE])
def test_every_set_gives_what_it_promises(name: str, with_studies: Path) -> None:
    dataset = open_dataset(name)
    stories = list(dataset.stories())
    assert dict(dataset.expected) == {
        "stories": len(stories),
        "systems": len({s.system for s in stories}),
        "story_prompts": len({s.story_prompt for s in stories if s.story_prompt}),
        "ratings": sum(len(s.ratings) for s in stories),
        **({} if dataset.pairs is None else {"pairs": len(list(dataset.pairs()))}),
    }
    assert len({s.id for s in stories}) == len(stories)
    assert dataset.name == name
    assert list(dataset.stories()) == stories


@pytest.mark.parametrize("name", [n for n in DATASETS if n != "demo"])
def test_without_files_the_command_is_named(name: str) -> None:
    with pytest.raises(DataError, match="is not on this machine") as caught:
        open_dataset(name)
    assert caught.value.hint is not None
    assert f"judge data {'add' if name in NO_ADDRESS else 'fetch'} {name}" in caught.value.hint


def test_an_unknown_name_is_told_the_nearest() -> None:
    with pytest.raises(SpecError, match="did you mean 'mans_roc'"):
        open_dataset("mans_rock")


@pytest.mark.parametrize("path", ["none.jsonl", "some/where", "none.csv"])
def test_a_path_to_nothing(path: str) -> None:
    with pytest.raises(DataError, match="there is no such file"):
        open_dataset(path)


def test_a_third_party_adds_a_dataset_by_an_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "others-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[judge.datasets]\nothers_set = others_reader:load\n")
    (tmp_path / "others_reader.py").write_text(
        "from judge.inputs.datasets import Dataset\n"
        "from judge.base.records import Story\n"
        "def load(name):\n"
        "    return Dataset(name, (), lambda: iter([Story('1', 'p', 's', 't')]))\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "others_set" in known_datasets()
    assert [s.text for s in open_dataset("others_set").stories()] == ["t"]


def test_reading_stories_imports_nothing_heavy(with_studies: Path, write: Callable[[str, str], Path]) -> None:
    path = write("a.csv", "text,system\nx,m\n")
    code = (
        "import sys\n"
        "from judge.inputs.datasets import open_dataset\n"
        f"for name in ('mans_roc', 'hanna_llm+human', {str(path)!r}):\n"
        "    list(open_dataset(name).stories())\n"
        "heavy = {'numpy', 'pandas', 'scipy', 'pyarrow', 'pooch', 'requests'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
