"""AUTOS in the form of the study's scripts, on files written here: the released ones were not at hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from judge.base.errors import DataError, SpecError
from judge.cli.main import app
from judge.inputs.datasets import open_dataset
from judge.inputs.datasets.sources import FILES
from judge.inputs.datasets.studies.openmeva import ASPECTS, EMPTY, NO_ORIGIN, PRINTED, SAME, TWICE, UNCHANGED
from judge.inputs.perturbations.perturbation import CATALOGUE, read_name

LINES = {
    "discrimination_test/roc_lexical_rept.txt": ["0|||a dog .|||it ran . it slept .", "1|||a cat .|||it sat ."],
    "discrimination_test/roc_lexical_rept_perturb.txt": [
        "0|||a dog .|||it ran and it ran . it slept .|||ngram",
        "0|||a dog .|||it ran . it ran .|||sentence",
        "1|||a cat .||||||sentence",
        "7|||a cow .|||it mooed and mooed .|||ngram",
    ],
    "discrimination_test/roc_relatedness.txt": ["1|||a cat .|||it sat ."],
    "discrimination_test/roc_relatedness_perturb.txt": ["0|||a dog .|||it ran . it paid .", "1|||a cat .|||it sat ."],
    "invariance_test/roc_typos_perturb.txt": ["0|||a dog .|||it rn . it slept .", "2|||a hen .|||it liad eggs ."],
    "invariance_test/roc_negative_sample.txt": ["5|||a dog .|||it ran . it paid .", "9|||a cat .|||it sat sat ."],
    "invariance_test/roc_negative_sample_typos_perturb.txt": ["1|||a cat .|||it sta sat ."],
    "roc_test_ipt.txt": ["a dog .", "a cat .", "a hen ."],
    "roc_test_opt.txt": ["it ran . it slept .", "it sat down .", "it laid eggs ."],
}


@pytest.fixture
def autos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "autos_data" / "roc"
    for name, lines in LINES.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.setenv("JUDGE_DATA", str(tmp_path))
    return folder


def test_stories_as_they_were_come_before_those_changed(autos: Path) -> None:
    stories = {story.id: story for story in open_dataset("autos_roc").stories()}
    assert {name: story.text for name, story in stories.items()} == {
        "0@none": "it ran . it slept .",
        "1@none": "it sat .",
        "negative-0@none": "it ran . it paid .",
        "negative-1@none": "it sat sat .",
        "1~test@none": "it sat down .",
        "2@none": "it laid eggs .",
        "0@lexical-repetition.1": "it ran and it ran . it slept .",
        "0@relatedness.1": "it ran . it paid .",
        "0@typos.1": "it rn . it slept .",
        "2@typos.1": "it liad eggs .",
        "negative-1@typos.1": "it sta sat .",
    }
    assert {story.system for story in stories.values()} == {"Human", "Human (incoherent)"}
    assert stories["2@typos.1"].story_prompt == stories["2@none"].story_prompt == "a hen ."
    for name in stories:
        read = read_name(name)
        assert read is not None
        assert read.perturbation is None or read.perturbation in CATALOGUE
        assert f"{read.origin}@none" in stories


def test_what_is_left_out_is_counted_and_other_counts_than_printed_are_named(autos: Path) -> None:
    left = open_dataset("autos_roc").left_out
    assert left is not None
    counts = left()
    assert (counts[EMPTY], counts[NO_ORIGIN], counts[TWICE], counts[UNCHANGED]) == (1, 1, 1, 1)
    assert counts["nothing of roc_lexical_rept.txt, which holds (4736 are printed)"] == 2
    assert counts["nothing of roc_negative_sample_typos_perturb.txt, which holds (4763 are printed)"] == 1


def test_another_form_is_refused_with_its_row(autos: Path) -> None:
    (autos / "discrimination_test" / "roc_time_perturb.txt").write_text("0|||a dog .|||it ran .\nno line\n")
    with pytest.raises(DataError, match="not a line of AUTOS") as caught:
        list(open_dataset("autos_roc").stories())
    assert "row 2" in str(caught.value)


@pytest.mark.parametrize("place", [".", "roc", "roc/discrimination_test"])
def test_any_folder_of_a_copy_can_be_added(autos: Path, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = autos.parent / place
    monkeypatch.delenv("JUDGE_DATA")
    monkeypatch.setenv("JUDGE_HOME", str(autos.parent.parent / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(autos.parent.parent / "cache"))
    with pytest.raises(DataError, match="is not on this machine"):
        open_dataset("autos_roc")
    assert CliRunner().invoke(app, ["data", "add", "autos_roc", str(folder)]).exit_code == 0
    assert any(story.id == "0@relatedness.1" for story in open_dataset("autos_roc").stories())


def test_names_and_printed_counts_are_of_the_same_files() -> None:
    for part, printed in PRINTED.items():
        assert list(printed) == [*ASPECTS, *SAME]
        for mode in ASPECTS:
            assert f"autos_data/{part}/discrimination_test/{part}_{mode}_perturb.txt" in FILES[f"autos_{part}"]
        for mode in SAME:
            assert f"autos_data/{part}/invariance_test/{part}_{mode}_perturb.txt" in FILES[f"autos_{part}"]
    assert {*ASPECTS.values(), *SAME.values()} <= set(CATALOGUE)


def test_nothing_can_be_fetched() -> None:
    from judge.inputs.datasets.locate import sources_of

    with pytest.raises(SpecError, match="no public address"):
        sources_of("autos_wp")
