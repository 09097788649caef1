"""Answers to the tests of Art or Artifice, given again by a run; blocked and absent ones are lost, never a No."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from judge.base.errors import DataError, RunFolderError
from judge.cli.main import main
from judge.exchange.released import write_ttcw_run
from judge.ratings.ratings_table import read


@pytest.fixture
def with_studies(studies: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The released files, where datasets are looked for."""
    monkeypatch.setenv("JUDGE_DATA", str(studies))
    return studies


def _lines(path: Path, answers: dict[str, str | None]) -> Path:
    path.write_text(
        "".join(f"{json.dumps({'id': name, 'response': said})}\n" for name, said in answers.items()), encoding="utf-8"
    )
    return path


def _run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(["run", *arguments, "--quiet"])
    return int(str(stop.value.code))


def test_the_released_answers_go_into_a_journal(with_studies: Path, tmp_path: Path) -> None:
    file = with_studies / "ttcw" / "llm_answers" / "annotations_gpt4.jsonl"
    definition, count = write_ttcw_run(file, tmp_path / "run", "gpt4")
    assert count == 672
    assert _run(str(definition)) == 0
    table = read([definition])
    judged = table.frame[table.frame["source"] == "judge"]
    assert len(judged) == 672
    assert not judged["status"].isin(["not_answered", "filtered", "empty"]).any()
    assert set(judged["story"]) == set(table.frame.loc[table.frame["source"] == "rater", "story"])
    assert judged.groupby("criterion").size().eq(48).all()


def test_null_empty_blocked_and_absent_answers_are_lost(with_studies: Path, tmp_path: Path) -> None:
    released = with_studies / "ttcw" / "llm_answers" / "annotations_gpt4.jsonl"
    said = {line["id"]: line["response"] for line in map(json.loads, released.read_text(encoding="utf-8").splitlines())}
    del said["story_1_GPT4_test4"], said["story_2_GPT4_test4"]
    said |= {
        "story_0_Claude_test1": None,
        "story_0_Claude_test2": "  ",
        "story_0_Claude_test3": "Content Blocked",
        "story_0_NewYorker_test4": "\ncontent blocked ",
    }
    definition, count = write_ttcw_run(_lines(tmp_path / "a.jsonl", said), tmp_path / "run", "m")
    assert count == 670
    assert yaml.safe_load(definition.read_text(encoding="utf-8"))["dataset"] == "ttcw+newyorker"
    assert _run(str(definition)) == 3
    frame = read([definition]).frame
    judged = frame[frame["source"] == "judge"]
    assert int(judged["rating"].isna().sum()) == 6
    status = judged.set_index(["story", "criterion"])["status"]
    assert status["0_Claude", "Narrative Ending"] == "empty"
    assert status["0_Claude", "Understandability and Coherence"] == "empty"
    assert status["0_Claude", "Scene vs Summary"] == "filtered"
    assert status["0_NewYorker", "Narrative Pacing"] == "filtered"
    assert status["1_GPT4", "Narrative Pacing"] == "not_answered"


def test_answers_to_the_models_stories_alone_are_of_the_dataset_that_has_their_texts(tmp_path: Path) -> None:
    definition, _ = write_ttcw_run(_lines(tmp_path / "a.jsonl", {"story_3_GPT4_test14": "No."}), tmp_path / "run", "m")
    assert yaml.safe_load(definition.read_text(encoding="utf-8"))["dataset"] == "ttcw"
    (line,) = (tmp_path / "run" / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(line) == {
        "story": "3_GPT4",
        "criterion": "Character Development",
        "eval_prompt": "ep2",
        "repeat": 0,
        "text": "No.",
    }


def test_wrong_files_and_a_taken_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no answers"):
        write_ttcw_run(_lines(tmp_path / "a.jsonl", {}), tmp_path / "run", "m")
    with pytest.raises(DataError, match=r"no such test.*15.*1 to 14"):
        write_ttcw_run(_lines(tmp_path / "a.jsonl", {"story_0_X_test15": "Yes"}), tmp_path / "run", "m")
    good = _lines(tmp_path / "a.jsonl", {"story_0_X_test1": "Yes"})
    write_ttcw_run(good, tmp_path / "run", "m")
    with pytest.raises(RunFolderError, match="holds a run already"):
        write_ttcw_run(good, tmp_path / "run", "m")


def test_a_real_judge_is_never_asked_about_a_story_without_text(
    with_studies: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = with_studies / "ttcw" / "llm_answers" / "annotations_cgpt.jsonl"
    definition, _ = write_ttcw_run(file, tmp_path / "run", "cgpt")
    # Beside the recorded answers, in their own folder (whoever declares their identity), and as a forecast.
    for arguments in (["-o", str(tmp_path / "other")], ["--dry-run"]):
        assert _run(str(definition), "--set", "judge=surface", *arguments) != 0
        said = " ".join(capsys.readouterr().err.split())
        assert "story '0_NewYorker' of dataset ttcw+newyorker has no text: surface cannot be asked about it" in said
        assert "dataset ttcw holds the stories that have one" in said
    assert _run(str(definition)) == 0
    (journal,) = (tmp_path / "run").rglob("journal.sqlite")
    assert _run(str(definition), "--set", "judge=surface", "-o", str(journal.parent)) != 0
    assert "has no text" in " ".join(capsys.readouterr().err.split())
    assert _run(str(definition), "--set", "dataset=ttcw", "--set", "judge=surface", "-o", str(tmp_path / "told")) == 0
