"""Reads OpenMEVA's MANS: 200 story-prompts x 5 systems x 5 ratings of overall quality. The release sorts a story's
ratings, so every rater is None, and statistics that need rater identity are not available."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from judge.base.errors import DataError
from judge.base.records import Rating, Scale, Story
from judge.inputs.datasets.dataset import Dataset
from judge.inputs.datasets.files.source_file import check_count, rating_value, read_json, text_value
from judge.inputs.datasets.studies import released

SYSTEMS = ("fusion", "s2s", "gpt_kg", "gpt", "plan_write")
CRITERION = "Overall"
SCALE = Scale(1, 5, 1)
IDS = frozenset(str(i) for i in range(1, 201))
RATERS = 5


def load(name: str) -> Dataset:
    return released(
        name,
        read_stories,
        rater_identity=False,
        citation="Guan et al. 2021, OpenMEVA: A Benchmark for Evaluating Open-ended Story Generation Metrics, ACL",
        scale=SCALE,
        expected={"stories": 1000, "systems": 5, "story_prompts": 200, "ratings": 5000},
    )


def read_stories(path: Path) -> Iterator[Story]:
    """The 1,000 stories in the file's order, with five ratings and ids such as `125-fusion`. Raises DataError if the
    content differs from the release."""
    content = read_json(path)
    if not isinstance(content, dict):
        raise DataError("not an object of story-prompts", file=path, found=type(content).__name__)
    check_count("story-prompts", len(content), len(IDS), path)
    strange = sorted(set(content) - IDS)
    if strange:
        raise DataError("not a MANS id", file=path, row=strange[0], found=strange[0], allowed='"1" to "200"')
    for number, entry in content.items():
        yield from _entry(number, entry, path)


def _entry(number: str, entry: Any, path: Path) -> Iterator[Story]:
    _keys(entry, ("prompt", "gold_response", "gen"), path, number)
    story_prompt = text_value(entry["prompt"], path, number, "prompt")
    reference = text_value(entry["gold_response"], path, number, "gold_response")
    _keys(entry["gen"], SYSTEMS, path, number)
    for system, story in entry["gen"].items():
        row = f"{number}-{system}"
        _keys(story, ("text", "score"), path, row)
        scores = story["score"]
        if not isinstance(scores, list) or len(scores) != RATERS:
            raise DataError("not five ratings", file=path, row=row, column="score", found=scores)
        values = [rating_value(v, SCALE, path, row, "score") for v in scores]
        yield Story(
            id=row,
            story_prompt=story_prompt,
            system=system,
            text=text_value(story["text"], path, row, "text"),
            reference=reference,
            ratings=tuple(Rating(CRITERION, v) for v in values),
        )


def _keys(value: Any, keys: tuple[str, ...], path: Path, row: str) -> None:
    if not isinstance(value, dict) or set(value) != set(keys):
        content = sorted(value) if isinstance(value, dict) else value
        raise DataError("not the keys of the released file", file=path, row=row, found=content, allowed=", ".join(keys))
