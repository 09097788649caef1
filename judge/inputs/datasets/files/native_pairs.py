"""Reads and writes the lines of the program's own dataset format (JSON Lines) that compare stories: a pair with
preferences, or a ranking.

The module `native` describes the format of both lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from judge.base.errors import DataError
from judge.base.records import PREFERRED, Pair, Preference, Preferred
from judge.inputs.datasets.files.pair_set import PairSet
from judge.inputs.datasets.files.source_file import json_lines


class PreferenceLine(BaseModel):
    """Schema of one person's preference between two stories, in a line of the program's own dataset format (JSON
    Lines).
    """

    model_config = ConfigDict(strict=True, extra="forbid")

    rater: str | None = Field(default=None, min_length=1)
    criterion: str = Field(min_length=1)
    value: Preferred


class PairLine(BaseModel):
    """Schema of a pair of compared stories, in a line of the program's own dataset format (JSON Lines)."""

    model_config = ConfigDict(strict=True, extra="forbid")

    id: str | None = Field(default=None, min_length=1)
    first: str = Field(min_length=1)
    second: str = Field(min_length=1)
    preferences: list[PreferenceLine] = Field(default_factory=list)

    def named(self) -> list[str]:
        """Ids of the two stories in a line with a pair. They may be equal."""
        return [self.first, self.second]


class RankingLine(BaseModel):
    """Schema of one ranking of stories, in a line of the program's own dataset format (JSON Lines)."""

    model_config = ConfigDict(strict=True, extra="forbid")

    stories: list[list[str]] = Field(min_length=1)
    criterion: str = Field(min_length=1)
    rater: str | None = Field(default=None, min_length=1)

    def named(self) -> list[str]:
        """Ids of the stories in a line with a ranking. An id may occur twice."""
        return [story for tied in self.stories for story in tied]


LINES: Mapping[str, type[PairLine | RankingLine]] = {"pair": PairLine, "ranking": RankingLine}


def is_compared(value: Any) -> bool:
    """Whether the value of a line in a dataset file is a pair or a ranking of stories, and not one story."""
    return isinstance(value, dict) and len(value) == 1 and next(iter(value)) in LINES


def says_pairs(header: Mapping[str, Any], path: Path, row: int) -> bool:
    """Whether the first line of a dataset file announces that the file holds comparisons. Raises DataError if the key
    `pairs` is neither true nor false.
    """
    value = header.get("pairs", False)
    if not isinstance(value, bool):
        raise DataError("neither true nor false", file=path, row=row, column="pairs", found=value)
    return value


def pairs_of(path: Path, prompts: Mapping[str, str]) -> Iterator[Pair]:
    """The pairs of stories from the comparisons in a file in the program's own dataset format (JSON Lines). `prompts`
    gives each story's story-prompt by the story's id.

    Raises DataError for a malformed comparison, for a story that is not in the file, and for stories with different
    story-prompts.
    """
    pair_set = PairSet(path)
    for row, value in json_lines(path):
        if not is_compared(value):
            continue
        (kind,) = value
        line = _line(value[kind], kind, path, row)
        _check(line.named(), prompts, path, row, kind)
        prompt = prompts[line.named()[0]]
        if isinstance(line, RankingLine):
            pair_set.add_ranking(line.stories, prompt, line.criterion, line.rater, row)
            continue
        if not line.preferences:
            pair_set.add(line.first, line.second, prompt, None, row, line.id)
        for preference in line.preferences:
            pair_set.add(
                line.first,
                line.second,
                prompt,
                Preference(preference.criterion, preference.value, preference.rater),
                row,
                line.id,
            )
    yield from pair_set.pairs()


def pair_line(pair: Pair) -> bytes:
    """One pair of stories as a line of the program's own dataset format (JSON Lines), with the newline at the end."""
    preferences = [{"rater": p.rater, "criterion": p.criterion, "value": p.value} for p in pair.preferences]
    value = {"id": pair.id, "first": pair.first, "second": pair.second, "preferences": preferences}
    return orjson.dumps({"pair": value}, option=orjson.OPT_APPEND_NEWLINE)


def _line(value: Any, kind: str, path: Path, row: int) -> PairLine | RankingLine:
    try:
        return LINES[kind].model_validate(value)
    except ValidationError as error:
        _refuse(error, kind, path, row)


def _check(named: list[str], prompts: Mapping[str, str], path: Path, row: int, kind: str) -> None:
    for story in named:
        if story not in prompts:
            raise DataError("no story has this id", file=path, row=row, column=kind, found=story)
    if len(set(named)) < max(len(named), 2):
        raise DataError("fewer than two stories, or one twice", file=path, row=row, column=kind, found=named)
    if len({prompts[story] for story in named}) > 1:
        raise DataError("stories for different story-prompts", file=path, row=row, column=kind, found=named)


def _refuse(error: ValidationError, kind: str, path: Path, row: int) -> NoReturn:
    """Raise DataError with the first of pydantic's errors as a message that names file, row and key. `kind` is the kind
    of the line, such as `pair`.
    """
    first = error.errors(include_url=False)[0]
    location = ".".join(str(part) for part in (kind, *first["loc"]))
    if first["type"] == "missing":
        raise DataError("the key is missing", file=path, row=row, column=location) from error
    if first["type"] == "extra_forbidden":
        inside = len(first["loc"]) > 1
        allowed_keys = PreferenceLine.model_fields if inside else LINES[kind].model_fields
        raise DataError("unknown key", file=path, row=row, column=location, allowed=", ".join(allowed_keys)) from error
    wanted = {"string_type": "a text", "list_type": "a list", "literal_error": ", ".join(PREFERRED)}.get(first["type"])
    raise DataError(
        "not what the format promises",
        file=path,
        row=row,
        column=location,
        found=first["input"],
        allowed=wanted or first["msg"],
    ) from error
