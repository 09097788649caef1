"""Runs to draw: the demo's, and one whose stories three known raters rated; both by the control judge."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from judge.asking.execution.session import Sitting, sit
from judge.asking.run_definition.spec import parse_run_spec
from judge.asking.run_folder import ResultFolder
from judge.demo import run_demo
from judge.inputs.datasets import open_dataset
from judge.ratings.ratings_table import RatingsTable, read

pytest.importorskip("matplotlib")


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """48 stories, six criteria, two Eval-Prompts, three repeats."""
    folder, _ = run_demo(tmp_path_factory.mktemp("runs") / "demo", quiet=True)
    return folder


@pytest.fixture(scope="session")
def rated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's stories with two criteria by three known raters, who follow the story's length and chance."""
    place = tmp_path_factory.mktemp("rated")
    rng = np.random.default_rng(5)
    lines = []
    for story in open_dataset("demo").stories():
        level = 1 + 4 * min(1.0, len(story.text.split()) / 400)
        ratings = [
            {"rater": f"r{i}", "criterion": name, "value": int(np.clip(round(level + rng.normal(0, 0.8)), 1, 5))}
            for name in ("Coherence", "Complexity")
            for i in range(3)
        ]
        line = {"id": story.id, "story_prompt": story.story_prompt, "system": story.system, "text": story.text}
        lines.append(line | {"reference": None, "ratings": ratings})
    (place / "rated.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    definition = {
        "name": "rated",
        "dataset": str(place / "rated.jsonl"),
        "judge": "surface",
        "criteria": {"set": "hanna", "only": ["CH", "CX"]},
        "eval_prompts": ["ep1", "ep2"],
        "repeats": 3,
        "generation": {"temperature": 1, "seed": 3},
    }
    result = ResultFolder(place / "rated" / "surface")
    sit(Sitting(parse_run_spec(definition, "test"), place, result, quiet=True))
    return result.path


@pytest.fixture(scope="session")
def demo_table(demo: Path) -> RatingsTable:
    return read([demo], explanations=False)


@pytest.fixture(scope="session")
def rated_table(rated: Path) -> RatingsTable:
    return read([rated], explanations=False)
