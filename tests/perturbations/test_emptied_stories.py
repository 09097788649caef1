"""Stories that are emptied on purpose are read and judged; any other story says something."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judge.base.errors import DataError
from judge.base.records import Story
from judge.cli.main import app
from judge.inputs.datasets.files.native import read_stories, write_stories


def test_only_an_emptied_story_may_have_no_text(tmp_path: Path) -> None:
    file = tmp_path / "stress.jsonl"
    write_stories(file, [Story("1@none", "p", "Human", "He left."), Story("1@empty.1", "p", "Human", "")])
    assert [story.text for story in read_stories(file)] == ["He left.", ""]
    for other in ("1", "1@empty", "1@typos.1", "1@empty.1@typos.1"):
        refused = tmp_path / f"{len(other)}.jsonl"
        write_stories(refused, [Story(other, "p", "Human", " ")])
        with pytest.raises(DataError, match="the text is empty"):
            list(read_stories(refused))


def test_what_is_no_story_is_asked_about_and_counted(tmp_path: Path) -> None:
    texts = {"1@none": "He left.", "1@empty.1": "", "1@one-token.1": ":", "2@none": "She stayed."}
    write_stories(tmp_path / "stress.jsonl", [Story(name, "p", "Human", text) for name, text in texts.items()])
    (tmp_path / "run").mkdir()
    lines = [f"dataset: {tmp_path / 'stress.jsonl'}", "judge: surface", "criteria: hanna", "eval_prompts: [ep1]"]
    (tmp_path / "run" / "run.yaml").write_text("\n".join(lines), encoding="utf-8")
    runner = CliRunner()
    # The control counts words and says so where there are none; that is lost, and nothing else is.
    assert runner.invoke(app, ["run", str(tmp_path / "run")]).exit_code == 3
    rated = runner.invoke(app, ["ratings", str(tmp_path / "run"), "--format", "jsonl"]).stdout.splitlines()
    lost = {(row["story"], row["status"]) for row in map(json.loads, rated) if row["rating"] is None}
    assert lost == {("1@empty.1", "not_answered")}
    assert len(rated) == 6 * len(texts)
