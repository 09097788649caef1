r"""Reads StoryER's WP_200: 200 stories with a mean human score; only texts and numbers are unpickled.

The file's order reveals the scores, so stories are sorted by the BLAKE2b hash of their text, which ids (`wp200-000` to
`wp200-199`) number. There are no story-prompts. The study wrote a line break as ``<\newline>`` between blanks (in 188
of the 200 stories) or left ``<br>``; `line_breaks` converts both, and texts are not changed otherwise."""

from __future__ import annotations

import io
import pickle
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from judge.base.errors import DataError
from judge.base.fingerprint import digest
from judge.base.late_pattern import late
from judge.base.records import Rating, Scale, Story
from judge.inputs.datasets.dataset import Dataset
from judge.inputs.datasets.files.source_file import check_count, rating_value, read_bytes, text_value
from judge.inputs.datasets.locate import need
from judge.inputs.datasets.sources import FILES, LICENCES

STORIES = 200
CRITERION = "Overall"
# Means of several persons on a scale that the release does not state; 0.25 and 0.90 are the ends of what it holds.
SCALE = Scale(0.25, 0.90, 0.01)

CITATION = "Chen et al. 2022, StoryER: Automatic Story Evaluation via Ranking, Rating and Reasoning, EMNLP"
DECODED = "line breaks, which the file writes as <\\newline> or <br>"
_LINE_BREAK = late(r" *<\\newline> *|<br\s*/?>", re.IGNORECASE)

# What the unpickler may raise on bytes that are no pickle; anything else is a bug of ours.
_BROKEN = (pickle.UnpicklingError, EOFError, ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError)


class PlainUnpickler(pickle.Unpickler):
    """Unpickles lists, tuples, texts and numbers, and rejects references to classes or functions, so that no code can
    run."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(f"the file asks for {module}.{name}, and no code is run from a data file")

    def persistent_load(self, pid: Any) -> NoReturn:
        raise pickle.UnpicklingError(f"the file refers to an outside object, {pid!r}")


def read_plain_pickle(path: Path) -> Any:
    """The plain values in a pickle. Raises DataError for a broken pickle, or one that refers to a class or function."""
    raw = read_bytes(path)
    try:
        return PlainUnpickler(io.BytesIO(raw)).load()
    except _BROKEN as error:
        raise DataError(f"is not a pickle of plain values: {error}", file=path) from error


def line_breaks(text: str) -> str:
    r"""The text with line breaks for ``<\newline>`` between blanks and ``<br>``, as StoryER's files write them."""
    return _LINE_BREAK.sub("\n", text)


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
        expected={"stories": STORIES, "systems": 1, "story_prompts": 0, "ratings": STORIES},
    )


def read_stories(path: Path) -> Iterator[Story]:
    """The 200 stories, all by system Human, in the order of their texts' hashes."""
    content = read_plain_pickle(path)
    if not isinstance(content, list):
        raise DataError("not a list of (story, score)", file=path, found=type(content).__name__)
    check_count("stories", len(content), STORIES, path)
    scored: dict[str, float] = {}
    for row, entry in enumerate(content, start=1):
        if not isinstance(entry, tuple | list) or len(entry) != 2:
            raise DataError("not a pair (story, score)", file=path, row=row, found=entry)
        text = text_value(entry[0], path, row, "story")
        if isinstance(entry[1], str):
            raise DataError("not a number", file=path, row=row, column="score", found=entry[1])
        if text in scored:
            raise DataError("the same story occurs twice", file=path, row=row, column="story", found=text)
        scored[text] = rating_value(entry[1], SCALE, path, row, "score", step=False)
    ordered = sorted(scored, key=digest)
    for number, text in enumerate(ordered):
        yield Story(f"wp200-{number:03d}", "", "Human", line_breaks(text), None, (Rating(CRITERION, scored[text]),))
