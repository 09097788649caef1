"""The stories of six language models, with and without the human ones."""

from __future__ import annotations

import csv
import statistics
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.base.errors import DataError
from judge.inputs.datasets import open_dataset
from judge.inputs.datasets.studies.hanna import read_llm_stories


def test_576_stories_nobody_rated(with_studies: Path) -> None:
    stories = list(open_dataset("hanna_llm").stories())
    assert [s.id for s in stories] == [f"llm-{i}" for i in range(576)]
    assert not any(s.ratings for s in stories)
    # Mean words, as the study's files are described.
    words: dict[str, list[int]] = {}
    for story in stories:
        words.setdefault(story.system, []).append(len(story.text.split()))
    assert {s: round(statistics.fmean(w)) for s, w in words.items()} == {
        "Llama-7b": 400,
        "Mistral-7b": 537,
        "Beluga-13b": 507,
        "OrcaPlatypus-13b": 613,
        "LlamaInstruct-30b": 536,
        "Platypus2-70b": 435,
    }


def test_a_leading_blank_is_kept_as_released(with_studies: Path) -> None:
    assert next(open_dataset("hanna_llm").stories()).text.startswith(" Great! Let's get started.")


def test_human_stories_come_with_ratings_by_unknown_raters(with_studies: Path) -> None:
    dataset = open_dataset("hanna_llm+human")
    stories = list(dataset.stories())
    human = stories[:96]
    assert len(stories) == 672
    assert {s.system for s in human} == {"Human"}
    assert all(s.text == s.reference and len(s.ratings) == 18 for s in human)
    assert {r.rater for s in human for r in s.ratings} == {None}
    assert dataset.rater_identity is False
    assert [r.value for r in human[0].ratings if r.criterion == "Relevance"] == [4, 5, 2]
    assert human[95].story_prompt == stories[-1].story_prompt


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda rows: rows.pop(), "575 stories where the released file has 576"),
        (lambda rows: rows[7].update({"": "8"}), "row 9, column '': not the row's number; found '8'; allowed: 7"),
        (lambda rows: rows[100].update(Model="Llama-7b"), "row 102, column 'Model': not this block's model"),
        (
            lambda rows: rows[100].update(Prompt="other"),
            "row 102, column 'Prompt': differs from the first model's row 6",
        ),
        (lambda rows: rows[100].update(Story=""), "row 102, column 'Story': the text is empty"),
    ],
)
def test_anything_not_as_released_is_named(
    change: Callable[[list[dict[str, str]]], object], sentence: str, studies: Path, tmp_path: Path
) -> None:
    with (studies / "hanna" / "hanna_llm_stories.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    change(rows)
    path = tmp_path / "s.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        out = csv.DictWriter(stream, list(rows[0]))
        out.writeheader()
        out.writerows(rows)
    with pytest.raises(DataError, match=sentence):
        list(read_llm_stories(path))
