"""Where files are looked for, and in which order."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.base.errors import DataError, SpecError
from judge.base.files import cache_folder
from judge.inputs.datasets.locate import find, find_with_place, home_folder, need, register, registered

FILE = "openmeva/mans_roc.json"


def _put(folder: Path, relative: str = FILE) -> Path:
    path = folder / relative
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")
    return path


def test_judge_data_comes_before_registered_before_cache(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find(FILE) is None
    cached = _put(machine / "cache")
    assert find_with_place(FILE) == (cached, "cache")
    mine = _put(machine / "mine", "roc.json")
    register("mans_roc", mine)
    assert find_with_place(FILE) == (mine, "registered")
    given = _put(machine / "data")
    monkeypatch.setenv("JUDGE_DATA", str(machine / "data"))
    assert find_with_place(FILE) == (given, "JUDGE_DATA")


def test_a_folder_or_the_files_own_name_can_be_registered(machine: Path) -> None:
    both = machine / "hanna"
    stories = _put(both, "hanna_llm_stories.csv")
    scores = _put(both, "hanna_metric_scores_llm.csv")
    register("hanna_llm+human", both)
    assert find("hanna/hanna_llm_stories.csv") == stories
    assert find("hanna/hanna_metric_scores_llm.csv") == scores
    prompts = _put(machine, "typed.json")
    register("eval_prompts.json", prompts)
    assert find("hanna/eval_prompts.json") == prompts


def test_what_is_registered_is_remembered(machine: Path) -> None:
    path = _put(machine, "mine.csv")
    register("mine", path, {"text": "Story"})
    register("mine2", path)
    assert registered()["mine"].columns == {"text": "Story"}
    assert set(registered()) == {"mine", "mine2"}
    assert (home_folder() / "datasets.json").is_file()


def test_files_without_an_address_are_asked_for(machine: Path) -> None:
    with pytest.raises(DataError) as caught:
        need("hanna/eval_prompts.json", "hanna_eval_prompts")
    assert caught.value.hint == "judge data add hanna_eval_prompts PATH (this file has no public address)"


def test_a_wrong_judge_data_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_DATA", "/nowhere/at/all")
    with pytest.raises(DataError, match="JUDGE_DATA names /nowhere/at/all, which is not a folder"):
        find(FILE)


def test_a_damaged_list_is_said(machine: Path) -> None:
    home_folder().mkdir(parents=True)
    (home_folder() / "datasets.json").write_text('{"a": 1}')
    with pytest.raises(DataError, match="not a list of registered files"):
        registered()


def test_what_cannot_be_registered(machine: Path) -> None:
    with pytest.raises(DataError, match="there is no such file or folder"):
        register("mine", machine / "none")
    with pytest.raises(SpecError, match="is no name for a dataset"):
        register("a/b", machine)


def test_default_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import pooch

    monkeypatch.delenv("JUDGE_HOME")
    monkeypatch.delenv("JUDGE_CACHE")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert home_folder() == tmp_path / "judge"
    monkeypatch.delenv("XDG_DATA_HOME")
    assert home_folder() == Path.home() / ".local" / "share" / "judge"
    assert cache_folder() == Path(pooch.os_cache("judge"))
