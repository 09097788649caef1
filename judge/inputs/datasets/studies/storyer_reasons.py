"""Reads StoryER's comments: 100 stories, each with a reader's ratings and comments on three or more of ten aspects.

The file is a list of {story, prompt, score, comments}. `score` is the number of upvotes, and a comment is [aspect 1-10,
rating 1-5, text], without its author. Each list is padded to five entries with [-1, -1, NaN], where NaN is the bare
word. Padding and comments without an aspect (-1) are left out and counted."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from judge.base.errors import DataError
from judge.base.records import Rating, Scale, Story
from judge.inputs.criteria import load_criteria
from judge.inputs.datasets.dataset import Dataset
from judge.inputs.datasets.files.source_file import decode, read_bytes
from judge.inputs.datasets.locate import need
from judge.inputs.datasets.sources import FILES, LICENCES
from judge.inputs.datasets.studies.storyer import CITATION, DECODED, line_breaks

SCALE = Scale(1, 5, 1)
SYSTEM = "Human"
STORIES, STORY_PROMPTS, COMMENTS = 100, 100, 303
PADDING, NO_ASPECT = "padding (empty comments)", "comments of no aspect, or off the scale"
_WANTED = ("story", "prompt", "comments")


@dataclass(frozen=True, slots=True)
class Comment:
    """A reader's comment on one aspect (numbered 1 to 10), with the reader's rating of it."""

    aspect: int
    rating: float
    text: str


@dataclass(frozen=True, slots=True)
class Commented:
    """One story with readers' comments; `upvotes` is None in files that lack them. `left_out` counts entries that are
    no comments, by reason."""

    id: str
    story_prompt: str
    text: str
    upvotes: float | None
    comments: tuple[Comment, ...]
    left_out: Mapping[str, int]


def load(name: str) -> Dataset:
    (path,) = (need(f, name) for f in FILES[name])
    return Dataset(
        name=name,
        files=(path,),
        stories=partial(read_stories, path),
        rater_identity=False,
        citation=CITATION,
        licence_note=LICENCES[name],
        scale=SCALE,
        decoded=DECODED,
        left_out=partial(left_out, path),
        expected={"stories": STORIES, "systems": 1, "story_prompts": STORY_PROMPTS, "ratings": COMMENTS},
    )


def read_stories(path: Path) -> Iterator[Story]:
    """The stories in the file's order, each with its ratings and their comments."""
    names = aspects()
    for entry in read_commented(path):
        ratings = (Rating(names[c.aspect - 1], c.rating, None, c.text) for c in entry.comments)
        yield Story(entry.id, entry.story_prompt, SYSTEM, entry.text, None, tuple(ratings))


def aspects() -> list[str]:
    """Names of the ten aspects, in the order of their numbers, from 1."""
    return [criterion.name for criterion in load_criteria("storyer").criteria]


def left_out(path: Path) -> Mapping[str, int]:
    """Number of entries that are no comments on an aspect, by description."""
    counts = {PADDING: 0, NO_ASPECT: 0}
    for entry in read_commented(path):
        for reason, count in entry.left_out.items():
            counts[reason] += count
    return counts


def is_shaped(path: Path) -> bool:
    """Whether a JSON file is a list of stories with comments, by its first entry. True also for an empty list, and for
    no object (an error when it is read)."""
    entries = _entries(path)
    return not entries or not isinstance(entries[0], dict) or "comments" in entries[0]


def read_commented(path: Path) -> Iterator[Commented]:
    """Every story with its comments. Raises DataError, naming the row, for another format."""
    for row, entry in enumerate(_entries(path), start=1):
        if not isinstance(entry, dict) or not set(_WANTED) <= set(entry):
            raise DataError("not an object with story, prompt and comments", file=path, row=row, found=entry)
        if not isinstance(entry["comments"], list):
            raise DataError("not a list", file=path, row=row, column="comments", found=entry["comments"])
        counts = {PADDING: 0, NO_ASPECT: 0}
        comments = []
        for given in entry["comments"]:
            comment = _comment(given, path, row)
            if isinstance(comment, Comment):
                comments.append(comment)
            else:
                counts[comment] += 1
        yield Commented(
            id=f"reasons-{row - 1:03d}",
            story_prompt=line_breaks(str(entry["prompt"])),
            text=line_breaks(str(entry["story"])),
            upvotes=_upvotes(entry.get("score"), path, row),
            comments=tuple(comments),
            left_out=counts,
        )


def _entries(path: Path) -> list[Any]:
    try:
        entries = json.loads(decode(read_bytes(path), path, 1))  # the release holds bare NaN, which Python reads
    except json.JSONDecodeError as error:
        raise DataError(f"is not JSON: {error.msg}", file=path, row=error.lineno) from error
    if not isinstance(entries, list):
        raise DataError("not a list of stories with comments", file=path, found=type(entries).__name__)
    return entries


def _comment(given: Any, path: Path, row: int) -> Comment | str:
    if not isinstance(given, list) or len(given) != 3:
        raise DataError("not a comment [aspect, rating, text]", file=path, row=row, column="comments", found=given)
    aspect, rating, text = given
    if not all(isinstance(n, int | float) and math.isfinite(n) for n in (aspect, rating)):
        raise DataError("not numbers", file=path, row=row, column="comments", found=given[:2])
    if not isinstance(text, str):
        return PADDING
    if int(aspect) not in range(1, len(aspects()) + 1) or rating not in SCALE:
        return NO_ASPECT
    return Comment(int(aspect), float(rating), line_breaks(text))


def _upvotes(value: Any, path: Path, row: int) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise DataError("not a number of upvotes", file=path, row=row, column="score", found=value)
    return float(value)
