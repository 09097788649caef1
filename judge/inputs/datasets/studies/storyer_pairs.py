"""Reads StoryER's pairs, rows of [story-prompt, higher, lower, ...]: the more upvoted story is always first. An id is a
hash of story-prompt and text, the same in the whole file (1,000 pairs) and shortened copies; a pair is ordered by ids,
which do not reveal the preference. There are no authors or numbers of votes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from judge.base.errors import DataError
from judge.base.fingerprint import digest
from judge.base.records import Pair, Preference, Story
from judge.inputs.datasets.dataset import Dataset
from judge.inputs.datasets.files.source_file import text_value
from judge.inputs.datasets.locate import need
from judge.inputs.datasets.sources import FILES, LICENCES
from judge.inputs.datasets.studies.storyer import CITATION, DECODED, line_breaks, read_plain_pickle

CRITERION = "Overall"
SYSTEM = "Human"
_TEXTS = ("story-prompt", "higher", "lower")
# Bytes of the released file, and of the shortened copy that is about -> what it holds.
_PROMISED: Mapping[int, Mapping[str, int]] = {
    1869412: {"stories": 648, "systems": 1, "story_prompts": 118, "ratings": 0, "pairs": 1000},
    1422585: {"stories": 492, "systems": 1, "story_prompts": 96, "ratings": 0, "pairs": 700},
}


def load(name: str) -> Dataset:
    (path,) = (need(f, name) for f in FILES[name])
    return Dataset(
        name=name,
        files=(path,),
        stories=partial(read_stories, path),
        pairs=partial(read_pairs, path),
        rater_identity=False,
        citation=CITATION,
        licence_note=LICENCES[name],
        decoded=DECODED,
        expected=_PROMISED.get(path.stat().st_size, {}),
    )


def read_stories(path: Path) -> Iterator[Story]:
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
