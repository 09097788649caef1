"""Reads models' answers to the fourteen tests of Art or Artifice: JSON Lines of `id` (`story_0_Claude_test3` is test 3
on story `0_Claude`) and `response`. One that is null, empty, or "Content Blocked" (by the provider's filter) does not
count as "No"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from judge.base.errors import DataError
from judge.base.late_pattern import late
from judge.inputs.datasets.files.source_file import json_lines

_ID = late(r"story_(?P<story>.+)_test(?P<test>[0-9]{1,3})")
_BLOCKED = "content blocked"


@dataclass(frozen=True, slots=True)
class TestAnswer:
    """One answer of a language model to a test; `text` is None if it is missing."""

    story: str
    test: int
    text: str | None

    @property
    def blocked(self) -> bool:
        """Whether the text is only the note that the provider's filter blocked the request."""
        return self.text is not None and self.text.strip().casefold() == _BLOCKED


def is_id(name: object) -> bool:
    """Whether a value names a story and a test of Art or Artifice."""
    return isinstance(name, str) and _ID.fullmatch(name) is not None


def read_answers(path: Path) -> Iterator[TestAnswer]:
    """Every answer in the file's order. Raises DataError for another format, and for a duplicate."""
    seen: set[str] = set()
    for row, entry in json_lines(path):
        name = entry.get("id") if isinstance(entry, dict) else None
        match = _ID.fullmatch(name) if isinstance(name, str) else None
        if match is None:
            raise DataError("no id", file=path, row=row, column="id", found=name, allowed="story_STORY_testNUMBER")
        if match[0] in seen:
            raise DataError("the same answer occurs twice", file=path, row=row, column="id", found=match[0])
        seen.add(match[0])
        text = entry.get("response")
        if text is not None and not isinstance(text, str):
            raise DataError("an answer that is not a text", file=path, row=row, column="response", found=text)
        yield TestAnswer(match["story"], int(match["test"]), text)
