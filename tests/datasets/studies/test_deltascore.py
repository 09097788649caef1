"""DeltaScore's crowd ratings."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge.base.errors import DataError
from judge.inputs.datasets import open_dataset
from judge.inputs.datasets.studies.deltascore import CRITERIA, read_stories

LINE = {"title": "t", "story": "s", "model": "A", "reference": "r"} | {c.lower(): 3.33 for c in CRITERIA}


@pytest.mark.parametrize(("name", "stories", "systems"), [("deltascore_roc", 120, 6), ("deltascore_wp", 80, 4)])
def test_released_files(name: str, stories: int, systems: int, with_studies: Path) -> None:
    found = list(open_dataset(name).stories())
    assert len({s.id for s in found}) == stories
    assert len({s.system for s in found}) == systems
    assert len({s.story_prompt for s in found}) == 20
    assert all(tuple(r.criterion for r in s.ratings) == CRITERIA for s in found)


def test_first_story(with_studies: Path) -> None:
    story = next(open_dataset("deltascore_roc").stories())
    assert story.id == "1-BART"
    assert [(r.criterion, r.value) for r in story.ratings][:3] == [
        ("Fluency", 3.67),
        ("Coherence", 4.67),
        ("Relatedness", 3.0),
    ]


@pytest.mark.parametrize(
    ("second", "sentence"),
    [
        (
            {**LINE, "fluency": 5.5, "title": "u"},
            r"row 2, column 'fluency': rating off the scale; found 5.5; allowed: 1 to 5",
        ),
        ({**LINE, "story": "", "title": "u"}, "row 2, column 'story': the text is empty"),
        ({**LINE, "model": "B"}, "row 2, column 'model': not this file's system; found 'B'; allowed: A"),
        (LINE, "row 2, column 'title': this system has another story for the same title"),
        ({k: v for k, v in LINE.items() if k != "model"}, "row 2: not the keys of the released file"),
        ({**LINE, "title": "u"}, "2 stories where the released file has 20"),
    ],
)
def test_anything_not_as_released_is_named(
    second: dict[str, Any], sentence: str, write: Callable[[str, str], Path]
) -> None:
    with pytest.raises(DataError, match=sentence):
        list(read_stories(write("d.jsonl", f"{json.dumps(LINE)}\n{json.dumps(second)}\n"), ("A",)))
