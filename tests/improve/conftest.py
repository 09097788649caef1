"""A run by a simulated judge, improved once for all tests that look at it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import judge
from judge.base.records import Story
from judge.lab.improve.result import Improvement
from tests.improve.simulated import SimulatedJudge, run_of, stories
from tests.server.meter import serving

STORY_PROMPTS, SYSTEMS = 28, 4
# Sees much of the quality where it reasons first, less otherwise.
REASONED = "Think it through"
CHOICES = {"candidates": 4, "test_repeats": 1}


def skill(prompt: str) -> float:
    return 0.97 if REASONED in prompt else 0.15


@dataclass(frozen=True)
class Improved:
    """What was found, the server that was asked, and the folder of the run."""

    found: Improvement
    server: SimulatedJudge
    folder: Path
    stories: list[Story]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder of settings of its own, where uses of test parts are kept."""
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUDGE_HOME", str(folder))
        yield folder


@pytest.fixture(scope="module")
def improved(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Improved]:
    """A run of 28 story-prompts x 4 systems, and its improvement by a judge that reasons well."""
    made, qualities = stories(STORY_PROMPTS, SYSTEMS)
    folder = tmp_path_factory.mktemp("run")
    with serving(SimulatedJudge(qualities, skill)) as server:
        definition = run_of(folder / "r", server.url, made, repeats=1)
        judge.run(definition)
        found = judge.open_run(definition).improve(**CHOICES).value
        yield Improved(found, server, definition.parent, made)
