"""A small study: 4 story-prompts x 3 systems, three raters, three criteria."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from judge.base.records import Story
from judge.inputs.criteria import load_criteria
from judge.lab.people.options import DesignOptions
from judge.lab.people.store import StudyStore
from judge.lab.people.study import Drawn, draw

SENTENCES = ("The lamp went out.", "She counted to ten.", "Nobody came.", "The door stood open.", "It rained for days.")


def stories(prompts: int, systems: tuple[str, ...] = ("Human", "one", "two")) -> list[Story]:
    """Stories of distinct sentences, so that damage shows."""
    made = []
    for p in range(prompts):
        for s, system in enumerate(systems):
            text = " ".join(f"{sentence[:-1]} in town {p} by {s}." for sentence in SENTENCES * 2)
            made.append(Story(f"p{p}-{system}", f"Prompt {p}", system, text))
    return made


def drawn(prompts: int = 12, criteria: int = 3, **options: object) -> Drawn:
    chosen = load_criteria("hanna").criteria[:criteria]
    return draw(stories(prompts), "made", chosen, DesignOptions(**{"raters": 3, "per_story": 3, **options}))


@pytest.fixture
def study(tmp_path: Path) -> Callable[..., StudyStore]:
    """A factory of studies in the test's folder."""

    def make(prompts: int = 4, **options: object) -> StudyStore:
        return StudyStore.create(tmp_path / "people.sqlite", drawn(prompts, **options), "We ask you to rate stories.")

    return make
