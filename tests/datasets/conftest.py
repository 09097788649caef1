"""A machine of its own for every test: no JUDGE_DATA, an empty home and an empty cache."""

from __future__ import annotations

import csv
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.inputs.datasets.studies.hanna import COLUMNS, CRITERIA, SYSTEMS, read_human_stories, read_score_file


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("JUDGE_DATA", raising=False)
    monkeypatch.setenv("JUDGE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("JUDGE_CACHE", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def with_studies(studies: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JUDGE_DATA", str(studies))
    return studies


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """Write a small file and give its path."""

    def _write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    return _write


@pytest.fixture(scope="session")
def annotations(studies: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`hanna_stories_annotations.csv` in its documented format.

    The real file is not at hand. Here are the real 96 human stories and story-prompts and all real ratings of all
    systems (the score file's three positions); the machine stories' texts and who gave which rating are made up.
    """
    scores = read_score_file(studies / "hanna" / "hanna_metric_scores_llm.csv")
    human = read_human_stories(studies / "hanna" / "hanna_llm_stories.csv")
    positions = {criterion: scores.human_positions(criterion) for criterion in CRITERIA}
    rng = random.Random(7)
    workers = [f"W{i:02d}" for i in range(22)]
    path = tmp_path_factory.mktemp("hanna") / "hanna_stories_annotations.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        out = csv.writer(stream)
        out.writerow(COLUMNS)
        for block, system in enumerate(SYSTEMS):
            for k, story in enumerate(human):
                text = story.text if system == "Human" else f"{system} says: {story.text[: 200 + k]}"
                for position, worker in enumerate(rng.sample(workers, 3)):
                    ratings = [f"{positions[c][system][position][k]:.0f}" for c in CRITERIA]
                    assignment = f"A{block}-{k}-{position}"
                    number = str(block * 96 + k)
                    row = [
                        number,
                        story.story_prompt,
                        story.text,
                        text,
                        system,
                        *ratings,
                        worker,
                        assignment,
                        "82.0",
                        "Eric",
                    ]
                    out.writerow(row)
    return path
