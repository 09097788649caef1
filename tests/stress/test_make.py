"""`judge stress`: from a dataset to a file that judges run on, its facts, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judge.base.errors import DataError, OptionError, SpecError
from judge.cli.main import main
from judge.inputs.datasets import open_dataset
from judge.inputs.perturbations.perturbation import Edit, applied
from judge.lab.stress.making import MakeOptions, of_set, wanted
from judge.lab.stress.session import make
from tests.stress.made_stories import dataset, stories

NAMES = ["lexical-repetition", "sentence-shuffle", "typos"]


def made(folder: Path, name: str = "out", names: list[str] = NAMES, **options: Any) -> dict[str, dict[str, Any]]:
    """The lines of a made file, by id."""
    source = folder / "small.jsonl"
    opened = open_dataset(str(source if source.exists() else dataset(folder)))
    make(opened, MakeOptions(wanted=wanted(names, [1, 2, 4]), **options), folder / f"{name}.jsonl")
    lines = (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return {line["id"]: line for line in map(json.loads, lines)}


def run(*words: object) -> int:
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    return int(left.value.code or 0)


def test_untouched_stories_keep_their_ratings_and_others_have_none(tmp_path: Path) -> None:
    found = made(tmp_path)
    assert [len(found[f"{story.id}@none"]["ratings"]) for story in stories()] == [2] * 6
    others = [line for name, line in found.items() if not name.endswith("@none")]
    assert others
    assert not any(line["ratings"] for line in others)
    assert {line["system"] for line in others} == {"a", "b"}
    assert [story.id for story in open_dataset(str(tmp_path / "out.jsonl")).stories()] == list(found)


def test_facts_make_the_stories_again(tmp_path: Path) -> None:
    found = made(tmp_path)
    head, *lines, end = map(json.loads, (tmp_path / "out.facts.jsonl").read_text(encoding="utf-8").splitlines())
    assert head["stress"]["seed"] == 1
    assert head["stress"]["grammar"] == "unfiltered"
    assert {line["story"] for line in lines} == {name for name in found if not name.endswith("@none")}
    for line in lines:
        origin = found[f"{line['origin']}@none"]["text"]
        assert applied(origin, [Edit(*edit) for edit in line["edits"]]) == found[line["story"]]["text"]
    for row in end["left_out"]:
        assert row["made"] + sum(row["reasons"].values()) == end["stories"] == 6


def test_a_part_is_as_in_the_whole(tmp_path: Path) -> None:
    whole = made(tmp_path)
    part = made(tmp_path, "part", ["typos"], systems=("b",), limit=2)
    assert len(part) == 2 + 2 * 3
    assert all(whole[name] == line for name, line in part.items())
    assert made(tmp_path, "again") == whole
    assert made(tmp_path, "other", seed=2) != whole


def test_reference_stories_stand_once_and_show_no_reference(tmp_path: Path) -> None:
    found = made(tmp_path, references=True)
    assert {line["system"] for line in found.values()} == {"Human"}
    assert [name for name in found if name.endswith("@none")] == [f"{at}-a~reference@none" for at in range(3)]
    assert all(line["reference"] is None for line in found.values())


def test_what_is_refused(tmp_path: Path) -> None:
    made(tmp_path)
    opened = open_dataset(str(tmp_path / "small.jsonl"))
    typos = wanted(["typos"], [1])
    with pytest.raises(DataError, match="exists already"):
        make(opened, MakeOptions(wanted=typos), tmp_path / "out.jsonl")
    with pytest.raises(DataError, match="perturbed stories already"):
        make(open_dataset(str(tmp_path / "out.jsonl")), MakeOptions(wanted=typos), tmp_path / "twice.jsonl")
    with pytest.raises(SpecError, match="no system 'c'; it has a, b"):
        make(opened, MakeOptions(wanted=typos, systems=("c",)), tmp_path / "c.jsonl")
    with pytest.raises(OptionError, match="strength"):
        wanted(["typos"], [3])
    with pytest.raises(SpecError, match="typos"):
        wanted(["typo"], [1])
    with pytest.raises(OptionError, match="no effect"):
        MakeOptions(wanted=typos, systems=("a",), references=True)
    assert not list(tmp_path.glob("c.jsonl*"))
    assert not list(tmp_path.glob("*.new"))


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = dataset(tmp_path)
    words = ["stress", "make", path, "-o", tmp_path / "s.jsonl", "--perturbation", "typos", "--strength", "1,2"]
    assert run(*words, "--format", "json", "--quiet") == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["strength"], row["made"], row["stories"]) for row in rows] == [(1, 6, 6), (2, 6, 6)]
    assert run("stress", "make", path, "-o", tmp_path / "t.jsonl", "--strength", "one") == 1
    assert "1,2,4" in capsys.readouterr().err
    assert run("stress", "make", path, "-o", tmp_path / "t.jsonl", "--set", "grammar_label=1") == 1
    assert "--set grammar_label" in capsys.readouterr().err
    assert run("stress", "list", "--format", "json") == 0
    listed = [row for table in json.loads(capsys.readouterr().out) for row in table["rows"]]
    rows = {row["perturbation"]: row for row in listed}
    assert rows["typos"]["here"] == "yes"
    assert rows["negation"]["aims"] == "coherence"


def test_sets_hold_what_can_be_made() -> None:
    assert "sentence-shuffle" in of_set("openmeva")
    assert set(of_set("invariance")) <= set(of_set("all"))
