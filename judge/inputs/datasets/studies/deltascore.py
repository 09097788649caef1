"""Reads DeltaScore's crowd ratings: 120 ROC and 80 WP stories, five criteria, means of three unnamed raters. An id is
the story-prompt's number, in order of first appearance, and the system, e.g. `1-BART`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from judge.base.errors import DataError
from judge.base.records import Rating, Scale, Story
from judge.inputs.datasets.dataset import Dataset
from judge.inputs.datasets.files.source_file import check_count, json_lines, rating_value, text_value
from judge.inputs.datasets.studies import released

CRITERIA = ("Fluency", "Coherence", "Relatedness", "Logicality", "Interestingness")
SCALE = Scale(1, 5, 1)
SYSTEMS = {
    "deltascore_roc": ("BART", "gpt3", "HINT", "KGGPT2", "MEGATRON", "PROGEN3"),
    "deltascore_wp": ("BART", "DAVINCI", "HINT", "PROGEN3"),
}
STORY_PROMPTS = 20
_TEXTS = ("title", "story", "model", "reference")
_KEYS = {*_TEXTS, *(c.lower() for c in CRITERIA)}


def load(name: str) -> Dataset:
    systems = SYSTEMS[name]
    stories = STORY_PROMPTS * len(systems)
    return released(
        name,
        partial(read_stories, systems=systems),
        rater_identity=False,
        scale=SCALE,
        expected={
            "stories": stories,
            "systems": len(systems),
            "story_prompts": STORY_PROMPTS,
            "ratings": stories * len(CRITERIA),
        },
    )


def read_stories(path: Path, systems: tuple[str, ...]) -> Iterator[Story]:
    """Every story with five mean ratings. `systems` are the only ones that the file may name. Raises DataError for a
    wrong number of stories, and for content that differs from the release."""
    numbers: dict[str, int] = {}
    ids: set[str] = set()
    for row, entry in json_lines(path):
        if not isinstance(entry, dict) or set(entry) != _KEYS:
            content = sorted(entry) if isinstance(entry, dict) else entry
            raise DataError(
                "not the keys of the released file", file=path, row=row, found=content, allowed=", ".join(sorted(_KEYS))
            )
        title, text, system, reference = (text_value(entry[k], path, row, k) for k in _TEXTS)
        if system not in systems:
            raise DataError(
                "not this file's system", file=path, row=row, column="model", found=system, allowed=", ".join(systems)
            )
        story = f"{numbers.setdefault(title, len(numbers) + 1)}-{system}"
        if story in ids:
            raise DataError(
                "this system has another story for the same title", file=path, row=row, column="title", found=title
            )
        ids.add(story)
        values = [rating_value(entry[c.lower()], SCALE, path, row, c.lower(), step=False) for c in CRITERIA]
        ratings = tuple(Rating(c, v) for c, v in zip(CRITERIA, values, strict=True))
        yield Story(story, title, system, text, reference, ratings)
    check_count("stories", len(ids), STORY_PROMPTS * len(systems), path)
