"""MANS: the released files' facts, and a sentence for everything that is not as released."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge.base.errors import DataError
from judge.inputs.datasets import open_dataset
from judge.inputs.datasets.studies.openmeva import SYSTEMS, read_stories

# Means, standard deviations over stories (n in the denominator) and counts of scores 1 to 5, computed by the study's
# reviewers from the released files with numpy.
FACTS = {
    "mans_roc": (
        {
            "fusion": (2.33, 0.64),
            "s2s": (1.86, 0.58),
            "gpt_kg": (3.21, 0.82),
            "gpt": (3.03, 0.80),
            "plan_write": (2.12, 0.64),
        },
        [686, 2015, 1458, 745, 96],
    ),
    "mans_wp": (
        {
            "gpt": (3.11, 0.71),
            "plan_write": (2.58, 0.69),
            "s2s": (2.48, 0.77),
            "gpt_kg": (3.18, 0.70),
            "fusion": (2.70, 0.65),
        },
        [271, 1542, 2130, 974, 83],
    ),
}


@pytest.mark.parametrize("name", FACTS)
def test_released_file_gives_the_known_means_and_counts(name: str, with_studies: Path) -> None:
    dataset = open_dataset(name)
    stories = list(dataset.stories())
    means: dict[str, list[float]] = {}
    for story in stories:
        means.setdefault(story.system, []).append(statistics.fmean(r.value for r in story.ratings))
    known, counts = FACTS[name]
    assert {s: (round(statistics.fmean(m), 2), round(statistics.pstdev(m), 2)) for s, m in means.items()} == known
    given = Counter(r.value for s in stories for r in s.ratings)
    assert [given[v] for v in (1, 2, 3, 4, 5)] == counts
    assert len({s.id for s in stories}) == 1000
    assert len({s.story_prompt for s in stories}) == 200


def test_story_carries_prompt_reference_and_nameless_ratings(with_studies: Path) -> None:
    dataset = open_dataset("mans_roc")
    story = next(s for s in dataset.stories() if s.id == "125-fusion")
    assert story.story_prompt == "[FEMALE] loved watching reality shows ."
    assert story.text.startswith("one day , a car passed her on her lawn .")
    assert story.reference is not None
    assert story.reference.startswith("[FEMALE] 's favorite reality show was the bachelor .")
    assert [(r.criterion, r.value, r.rater) for r in story.ratings] == [("Overall", v, None) for v in (2, 2, 2, 2, 3)]
    assert dataset.rater_identity is False


def _whole() -> dict[str, Any]:
    gen = {s: {"text": f"a story by {s} .", "score": [1, 2, 3, 4, 5]} for s in SYSTEMS}
    return {
        str(i): {"prompt": "p .", "gold_response": "g .", "gen": json.loads(json.dumps(gen))} for i in range(1, 201)
    }


def _set(content: dict[str, Any], *keys: str, value: object) -> None:
    for key in keys[:-1]:
        content = content[key]
    content[keys[-1]] = value


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda c: c.pop("7"), "199 story-prompts where the released file has 200"),
        (lambda c: c.update({"201": c.pop("7")}), r"row 201: not a MANS id; found '201'"),
        (lambda c: c["7"]["gen"].pop("s2s"), "row 7: not the keys of the released file"),
        (lambda c: _set(c, "7", "note", value="x"), "row 7: not the keys of the released file"),
        (
            lambda c: _set(c, "7", "gen", "gpt", "score", value=[1, 2, 3, 4]),
            "row 7-gpt, column 'score': not five ratings",
        ),
        (
            lambda c: _set(c, "7", "gen", "gpt", "score", value=[1, 2, 3, 4, 6]),
            r"off the scale; found 6; allowed: 1, 2, 3, 4, 5",
        ),
        (lambda c: _set(c, "7", "gen", "gpt", "score", value=[1, 2, 3, 4, 4.5]), "off the scale; found 4.5"),
        (lambda c: _set(c, "7", "gen", "gpt", "score", value=[1, 2, 3, 4, None]), "not a rating; allowed"),
        (lambda c: _set(c, "7", "gen", "gpt", "score", value=[1, 2, 3, 4, True]), "not a rating; found True"),
        (lambda c: _set(c, "7", "gen", "gpt", "text", value=" "), "row 7-gpt, column 'text': the text is empty"),
        (lambda c: _set(c, "7", "prompt", value=3), "row 7, column 'prompt': not a text; found 3"),
    ],
)
def test_anything_not_as_released_is_named(
    spoil: Callable[[dict[str, Any]], object], sentence: str, write: Callable[[str, str], Path]
) -> None:
    content = _whole()
    spoil(content)
    with pytest.raises(DataError, match=sentence):
        list(read_stories(write("mans.json", json.dumps(content))))


def test_whole_small_file_reads(write: Callable[[str, str], Path]) -> None:
    assert len(list(read_stories(write("mans.json", json.dumps(_whole()))))) == 1000
