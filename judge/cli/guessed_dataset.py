"""Guesses what a new run.yaml says about stories: dataset, columns, criteria, Eval-Prompts. Reads every story once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.base.errors import DataError
from judge.inputs.criteria import load_criteria, shipped_criteria
from judge.inputs.datasets import SUFFIXES, Dataset, open_dataset
from judge.inputs.datasets.files.column_guess import guess, options

_FAR = 3
_CHECK = "guessed from the names and cells of the file's columns: check it"


@dataclass(frozen=True, slots=True)
class Guessed:
    """Guessed values of run.yaml's keys, comments on them, and a sentence that counts the stories read."""

    values: Mapping[str, Any]
    comments: Mapping[str, str]
    sentence: str


def guess_dataset(named: str, named_columns: Mapping[str, str] | None, folder: Path) -> Guessed:
    """Values of run.yaml's keys for a known dataset or a file of stories. Raises DataError if a column is missing or a
    story cannot be read; its hint gives options that would help."""
    path = Path(named)
    is_file = path.is_file() or path.suffix.lower() in SUFFIXES
    columns = _columns(path, named_columns) if is_file else None
    dataset = open_dataset(named, columns=columns)
    values: dict[str, Any] = {"dataset": _beside(path, folder) if is_file else named}
    comments = {"columns": _CHECK}
    if columns:
        values["columns"] = columns
    contents = _Read.of(dataset)
    values["criteria"], comments["criteria"] = _criteria(contents.criteria)
    values["eval_prompts"] = ["ep1", "ep2", "ep3", *(["ep4"] if contents.references == contents.stories else [])]
    sentence = f"{named}: {contents.stories:,} stories by {len(contents.systems)} systems"
    rated = ", ".join(contents.criteria)
    sentence += f"; ratings of {rated}" if rated else "; no ratings by people"
    return Guessed(values, comments, sentence)


def _columns(path: Path, named_columns: Mapping[str, str] | None) -> dict[str, Any] | None:
    """None for a file in this program's own format."""
    if not path.is_file():
        raise DataError("there is no such file", file=path)
    if path.suffix.lower() in (".jsonl", ".ndjson") and not named_columns:
        try:
            next(open_dataset(str(path)).stories(), None)
        except DataError:
            pass
        else:
            return None
    sheet = (named_columns or {}).get("sheet")
    guessed = guess(path, sheet.removeprefix("=") if sheet else None, named_columns)
    if guessed.wanted:
        names = " and ".join(guessed.wanted)
        raise DataError(f"no column could be guessed for {names}", file=path, hint=options(guessed))
    return {**guessed.given, **guessed.as_map()}


def _beside(path: Path, folder: Path) -> str:
    # Relative, so that both can be moved together, unless more than `_FAR` (3) levels up or on another drive.
    try:
        relative = Path(os.path.relpath(path.resolve(), folder.resolve()))
    except ValueError:  # another drive
        return path.resolve().as_posix()
    return (path.resolve() if relative.parts.count("..") > _FAR else relative).as_posix()


@dataclass(frozen=True, slots=True)
class _Read:
    stories: int
    references: int
    systems: frozenset[str]
    criteria: tuple[str, ...]

    @classmethod
    def of(cls, dataset: Dataset) -> _Read:
        count = references = 0
        systems: set[str] = set()
        criteria: dict[str, None] = {}
        for story in dataset.stories():
            count += 1
            references += story.reference is not None
            systems.add(story.system)
            criteria |= dict.fromkeys(rating.criterion for rating in story.ratings)
        return cls(count, references, frozenset(systems), tuple(criteria))


def _criteria(rated: tuple[str, ...]) -> tuple[dict[str, Any], str]:
    """The shipped set that shares most criteria with those rated, and a comment."""
    sets = {name: [criterion.name for criterion in load_criteria(name).criteria] for name in shipped_criteria()}
    if not rated:
        return {"set": "overall"}, "nobody rated these stories; judge prompts list shows the sets"
    best = max(sets, key=lambda name: len(set(rated) & set(sets[name])))
    both = [criterion for criterion in sets[best] if criterion in rated]
    names = ", ".join(criterion for criterion in rated if criterion not in both)
    if not both:
        return {"set": "overall"}, f"no shipped set has {names}, which people rated: write one, and put its file here"
    only = {} if len(both) == len(sets[best]) else {"only": both}
    return {"set": best, **only}, "those that people rated" + (f"; the set has no {names}" if names else "")
