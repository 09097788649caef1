"""Selection of data for export: ratings with raters under pseudonyms, stories with or without texts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import pandas as pd

from judge.base.errors import SpecError
from judge.base.fingerprint import sha256_text
from judge.ratings.ratings_table import RatingsTable, read

People = Literal["pseudonyms", "names", "none"]


@dataclass(frozen=True, slots=True)
class GiveAway:
    """Options of every export: whether stories' texts are included, how raters are named, and whether raters' comments
    are included.
    """

    texts: bool = True
    people: People = "pseudonyms"
    comments: bool = False

    @property
    def words(self) -> str:
        """One sentence on what an export includes and what it withholds."""
        texts = "stories' texts" if self.texts else "hashes in place of stories' texts and story-prompts"
        people = {
            "pseudonyms": "people under pseudonyms (rater-1, rater-2, ...)",
            "names": "people under the names that the data have",
            "none": "no names of people: which ratings come from one person is left out too",
        }[self.people]
        comments = "people's comments" if self.comments else "no comments of people"
        return f"it holds {texts}, {people}, {comments}; judges' explanations are whole"


def tables_of(folders: Sequence[Path], choices: GiveAway) -> list[RatingsTable]:
    """Ratings table of each result folder in the form for export. A rater has the same pseudonym in all of them."""
    tables = [read([folder], keep=False) for folder in folders]
    names = [name for table in tables for name in table.frame["rater"].dropna().unique()]
    pseudonym_of = pseudonyms(names)
    return [_given(table, choices, pseudonym_of) for table in tables]


def pseudonyms(names: Sequence[str]) -> dict[str, str]:
    """Map from raters' names to pseudonyms. Numbers follow the order of the names' hashes, so that the same names
    always get the same pseudonyms.
    """
    mixed = sorted({*map(str, names)}, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    return {name: f"rater-{number}" for number, name in enumerate(mixed, start=1)}


def _given(table: RatingsTable, choices: GiveAway, pseudonym_of: dict[str, str]) -> RatingsTable:
    frame, stories = table.frame.copy(), table.stories.copy()
    people = frame["source"] == "rater"
    if choices.people == "none":
        frame["rater"] = None
    elif choices.people == "pseudonyms":
        frame["rater"] = [None if pd.isna(name) else pseudonym_of[str(name)] for name in frame["rater"]]
    if not choices.comments:
        frame["explanation"] = frame["explanation"].astype(object).where(~people, None)
    if not choices.texts:
        frame["story_prompt"] = [_hash(value) for value in frame["story_prompt"]]
        stories["story_prompt"] = [_hash(value) for value in stories["story_prompt"]]
        stories["text"] = None
    return replace(table, frame=frame, stories=stories)


def _hash(value: object) -> str | None:
    return None if value is None or value != value or value == "" else f"sha256:{sha256_text(str(value))}"


def empty_folder(path: Path) -> Path:
    """Return the folder, created if it does not exist; SpecError where it is not empty or cannot be written."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        if any(path.iterdir()):
            raise SpecError(f"{path} is not empty", hint="name a folder that does not exist yet")
    except OSError as error:
        raise SpecError(f"{path} cannot be written: {error.strerror}") from error
    return path
