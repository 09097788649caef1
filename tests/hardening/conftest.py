"""What every attempt starts from: no trusted folder, a home of its own, and a small run folder."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from judge.cli.main import main

Call = Callable[..., tuple[int, str, str]]
Make = Callable[..., Path]


@pytest.fixture(autouse=True)
def _nobody_is_trusted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JUDGE_TRUSTED_FOLDERS", raising=False)
    monkeypatch.delenv("JUDGE_DATA", raising=False)
    monkeypatch.setenv("JUDGE_HOME", str(tmp_path / "home-of-tests"))


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """One command in this process: (exit code, output, errors); a traceback fails the test by itself."""

    def run(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main([str(one) for one in arguments])
        said = capsys.readouterr()
        return int(left.value.code or 0), said.out, said.err

    return run


def run_folder(parent: Path, called: str = "theirs", raw: str | None = None, **changes: Any) -> Path:
    """A run folder as a stranger hands it on: run.yaml with changes, and three stories."""
    place = parent / called
    place.mkdir(exist_ok=True)
    lines = [
        {"id": f"s{i}", "story_prompt": f"p{i}", "system": f"m{i}", "text": f"The lamp went out {i} times."}
        | {"ratings": [{"rater": None, "criterion": "Overall", "value": 1 + i}]}
        for i in range(3)
    ]
    (place / "stories.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    data = {"name": called, "dataset": "stories.jsonl", "judge": "surface", "criteria": "overall"}
    data |= {"eval_prompts": ["ep1"]} | changes
    (place / "run.yaml").write_text(raw if raw is not None else yaml.safe_dump(data, sort_keys=False))
    return place


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """`run_folder` in the test's own folder."""

    def folder(called: str = "theirs", /, raw: str | None = None, **changes: Any) -> Path:
        return run_folder(tmp_path, called, raw, **changes)

    return folder


_RAN: dict[str, Path] = {}
"""Folders of runs that ended well, by what is asked for."""


@pytest.fixture
def ran(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Make:
    """`run_folder` in the test's own folder after `judge run`: a copy, so that each run is made once."""

    def folder(called: str = "theirs", /, **changes: Any) -> Path:
        asked = json.dumps([called, changes], sort_keys=True)
        if asked not in _RAN:
            place = run_folder(tmp_path_factory.mktemp("ran"), called, **changes)
            with pytest.raises(SystemExit) as left:
                main(["run", str(place), "--quiet"])
            assert not left.value.code
            _RAN[asked] = place
        return Path(shutil.copytree(_RAN[asked], tmp_path / called, dirs_exist_ok=True))

    return folder


def held(said: tuple[int, str, str], *words: str) -> str:
    """The sentence of a command that refused: exit code 1 or 2, no traceback, and these words in it."""
    code, _, error = said
    assert code in (1, 2), said
    assert "Traceback" not in error
    for word in words:
        assert word in error, error
    return error
