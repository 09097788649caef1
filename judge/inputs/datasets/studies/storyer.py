r"""Reads StoryER's files: WP_200, pairs, and comments; of pickles only texts and numbers are unpickled.

WP_200 has 200 stories with a mean human score. The file's order reveals the scores, so stories are sorted by the
BLAKE2b hash of their text, which ids (`wp200-000` to `wp200-199`) number. There are no story-prompts. The study wrote a
line break as ``<\newline>`` between blanks (in 188 of the 200 stories) or left ``<br>``; `line_breaks` converts both,
and texts are not changed otherwise."""

from __future__ import annotations

import io
import json
import math
import pickle
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, NoReturn

from judge.base.errors import DataError
from judge.base.fingerprint import digest
from judge.base.late_pattern import late
from judge.base.records import Pair, Preference, Rating, Scale, Story
from judge.inputs.criteria import load_criteria
from judge.inputs.datasets.dataset import Dataset
from judge.inputs.datasets.files.source_file import check_count, decode, rating_value, read_bytes, text_value
from judge.inputs.datasets.locate import need
from judge.inputs.datasets.sources import FILES
from judge.inputs.datasets.studies import released

WP200_STORIES = 200
CRITERION = "Overall"
# Means of several persons on a scale that the release does not state; 0.25 and 0.90 are the ends of what it holds.
WP200_SCALE = Scale(0.25, 0.90, 0.01)

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


def load_wp200(name: str) -> Dataset:
    return released(
        name,
        read_wp200,
        rater_identity=False,
        scale=WP200_SCALE,
        decoded=DECODED,
        expected={"stories": WP200_STORIES, "systems": 1, "story_prompts": 0, "ratings": WP200_STORIES},
    )


def read_wp200(path: Path) -> Iterator[Story]:
    """The 200 stories, all by system Human, in the order of their texts' hashes."""
    content = read_plain_pickle(path)
    if not isinstance(content, list):
        raise DataError("not a list of (story, score)", file=path, found=type(content).__name__)
    check_count("stories", len(content), WP200_STORIES, path)
    scored: dict[str, float] = {}
    for row, entry in enumerate(content, start=1):
        if not isinstance(entry, tuple | list) or len(entry) != 2:
            raise DataError("not a pair (story, score)", file=path, row=row, found=entry)
        text = text_value(entry[0], path, row, "story")
        if isinstance(entry[1], str):
            raise DataError("not a number", file=path, row=row, column="score", found=entry[1])
        if text in scored:
            raise DataError("the same story occurs twice", file=path, row=row, column="story", found=text)
        scored[text] = rating_value(entry[1], WP200_SCALE, path, row, "score", step=False)
    ordered = sorted(scored, key=digest)
    for number, text in enumerate(ordered):
        yield Story(f"wp200-{number:03d}", "", "Human", line_breaks(text), None, (Rating(CRITERION, scored[text]),))


# Reads StoryER's pairs, rows of [story-prompt, higher, lower, ...]: the more upvoted story is always first. An id is
# a hash of story-prompt and text, the same in the whole file (1,000 pairs) and shortened copies; a pair is ordered by
# ids, which do not reveal the preference. There are no authors or numbers of votes.

SYSTEM = "Human"
_TEXTS = ("story-prompt", "higher", "lower")
# Bytes of the released file, and of the shortened copy that is about -> what it holds.
_PROMISED: Mapping[int, Mapping[str, int]] = {
    1869412: {"stories": 648, "systems": 1, "story_prompts": 118, "ratings": 0, "pairs": 1000},
    1422585: {"stories": 492, "systems": 1, "story_prompts": 96, "ratings": 0, "pairs": 700},
}


def load_pairs(name: str) -> Dataset:
    (path,) = (need(f, name) for f in FILES[name])
    return released(
        name,
        read_paired,
        pairs=partial(read_pairs, path),
        rater_identity=False,
        decoded=DECODED,
        expected=_PROMISED.get(path.stat().st_size, {}),
    )


def read_paired(path: Path) -> Iterator[Story]:
    """Every story once, ordered by id."""
    stories: dict[str, Story] = {}
    for higher, lower in _rows(path):
        stories[higher.id] = higher
        stories[lower.id] = lower
    for story in sorted(stories):
        yield stories[story]


def read_pairs(path: Path) -> Iterator[Pair]:
    """The pairs, ordered by id, with a preference for the more upvoted story, without a rater, because it sums up many
    votes. Identical rows count once; opposite ones become one pair with both preferences."""
    wins: dict[tuple[str, str], dict[str, None]] = {}
    prompts: dict[tuple[str, str], str] = {}
    for higher, lower in _rows(path):
        key = (min(higher.id, lower.id), max(higher.id, lower.id))
        wins.setdefault(key, {})[higher.id] = None
        prompts[key] = higher.story_prompt
    for first, second in sorted(wins):
        preferences = tuple(
            Preference(CRITERION, "first" if winner == first else "second") for winner in wins[first, second]
        )
        yield Pair(f"{first}~{second}", prompts[first, second], first, second, preferences)


def _rows(path: Path) -> Iterator[tuple[Story, Story]]:
    # The more upvoted story, then the other.
    content = read_plain_pickle(path)
    if not isinstance(content, list) or not content:
        raise DataError("not a list of pairs", file=path, found=type(content).__name__)
    for row, entry in enumerate(content, start=1):
        if not isinstance(entry, list | tuple) or len(entry) < len(_TEXTS):
            raise DataError("not [story-prompt, higher, lower, ...]", file=path, row=row, found=entry)
        prompt, *texts = (line_breaks(text_value(entry[i], path, row, name)) for i, name in enumerate(_TEXTS))
        if texts[0] == texts[1]:
            raise DataError("a story is paired with itself", file=path, row=row, column="lower", found=texts[1])
        yield _story(prompt, texts[0]), _story(prompt, texts[1])


def _story(prompt: str, text: str) -> Story:
    name = digest(f"{prompt}\n\n{text}", 6).hex()
    return Story(f"pairs-{name}", prompt, SYSTEM, text)


# Reads StoryER's comments: 100 stories, each with a reader's ratings and comments on three or more of ten aspects.
# The file is a list of {story, prompt, score, comments}. `score` is the number of upvotes, and a comment is [aspect
# 1-10, rating 1-5, text], without its author. Each list is padded to five entries with [-1, -1, NaN], where NaN is
# the bare word. Padding and comments without an aspect (-1) are left out and counted.

SCALE = Scale(1, 5, 1)
REASONS_STORIES, COMMENTS = 100, 303
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


def load_reasons(name: str) -> Dataset:
    return released(
        name,
        read_rated,
        rater_identity=False,
        scale=SCALE,
        decoded=DECODED,
        left_out=partial(left_out, need(FILES[name][0], name)),
        expected={"stories": REASONS_STORIES, "systems": 1, "story_prompts": REASONS_STORIES, "ratings": COMMENTS},
    )


def read_rated(path: Path) -> Iterator[Story]:
    """The stories in the file's order, each with its ratings and their comments."""
    names = aspects()
    for entry in read_commented(path):
        ratings = (Rating(names[c.aspect - 1], c.rating, None, c.text) for c in entry.comments)
        yield Story(entry.id, entry.story_prompt, SYSTEM, entry.text, None, tuple(ratings))


@cache
def aspects() -> tuple[str, ...]:
    """Names of the ten aspects, in the order of their numbers, from 1."""
    return tuple(criterion.name for criterion in load_criteria("storyer").criteria)


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
