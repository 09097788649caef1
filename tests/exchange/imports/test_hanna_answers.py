"""The study's raw answers, given again by a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judge.base.errors import DataError, RunFolderError
from judge.cli.main import main
from judge.exchange.released import write_hanna_run
from judge.ratings.rating_matrix import build
from judge.ratings.ratings_table import read

ANSWER = {"Task 0": [" 4\n\n", " 5", "no idea"], "Task 1": [" 2 — weak", "3", "1"]}


def _answers(path: Path, stories: int) -> Path:
    names = ("Relevance", "Coherence", "Empathy", "Surprise", "Engagement", "Complexity")
    path.write_text(json.dumps([dict.fromkeys(names, ANSWER)] * stories), encoding="utf-8")
    return path


def test_the_run_gives_the_answers_again_and_the_parser_reads_them(tmp_path: Path) -> None:
    stories = tmp_path / "hanna_like.jsonl"
    lines = [{"id": str(i), "system": "Human", "text": f"Story {i}.", "story_prompt": "p"} for i in range(3)]
    stories.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    definition, count = write_hanna_run(_answers(tmp_path / "a.json", 3), tmp_path / "run", "Beluga-13B")
    assert count == 3 * 6 * 2 * 3
    with pytest.raises(SystemExit) as stop:
        main(["run", str(definition), "--set", f"dataset={stories}", "--quiet"])
    assert stop.value.code == 0
    table = read([definition])
    (matrix,) = build(table)
    assert {(c.eval_prompt, tuple(matrix.judge[i])) for i, c in enumerate(matrix.cells)} == {
        ("ep1", (4.5, 4.5, 4.5)),
        ("ep2", (2.0, 2.0, 2.0)),
    }
    assert matrix.missing[0] == {"no_rating": 3}
    assert table.facts[0].notes[0].endswith("answers of Beluga-13B as the HANNA study released them (a.json)")


def test_an_empty_file_and_a_taken_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "e.json").write_text("[]")
    with pytest.raises(DataError, match="holds no answers"):
        write_hanna_run(tmp_path / "e.json", tmp_path / "run", "m")
    write_hanna_run(_answers(tmp_path / "a.json", 1), tmp_path / "run", "m")
    with pytest.raises(RunFolderError, match="holds a run already"):
        write_hanna_run(tmp_path / "a.json", tmp_path / "run", "m")
