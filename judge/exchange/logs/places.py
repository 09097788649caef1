"""Paths of fields in a record of a tool's log: by default those that the log's reader uses, otherwise those that the
user gives.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from judge.base.errors import DataError, SpecError, unknown
from judge.base.wording import Advice

FIELDS = ("story", "story_prompt", "system", "text", "judge", "eval_prompt", "rating", "explanation", "people")
"""Fields that may be said to stand elsewhere; `people` is a person's rating of the record's story."""

Record = Mapping[str, Any]
_NOTHING = object()
_NAMED = 12
"""Fields of a record that a message lists: enough to see how it is built."""


@dataclass(slots=True)
class Places:
    """Where to find each field (such as a score) in a record of a tool's log. `given` maps a field to a dotted path, or
    to `=TEXT` for a constant. For a field that is not in `given`, the log's reader decides where to read it.

    `fields_found` are the fields whose path had a value in some record. If a record lacks a field's path, `seen` maps
    the field to examples of paths that the record has.
    """

    given: Mapping[str, str] = field(default_factory=dict)
    fields_found: set[str] = field(default_factory=set)
    seen: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise SpecError where the user gave a path for an unknown field."""
        for name in self.given:
            if name not in FIELDS:
                raise SpecError(unknown("field", name, FIELDS))

    def __contains__(self, name: str) -> bool:
        return name in self.given

    def value(self, name: str, record: Record, otherwise: Any = None) -> Any:
        """Value of the field `name` in a record of a log, at the path that the user gave; `otherwise` where the user
        gave no path, None where the record has nothing at the path.
        """
        path = self.given.get(name)
        if path is None:
            return otherwise
        if path.startswith("="):
            self.fields_found.add(name)
            return path[1:]
        held = at(record, path)
        if held is _NOTHING:
            self.seen.setdefault(name, sorted(paths(record))[:_NAMED])
            return None
        self.fields_found.add(name)
        return held

    def text(self, name: str, record: Record, otherwise: Any = None) -> str | None:
        """Value of the field `name` in a record of a log, found as by `Places.value`, as text; None where there is no
        value.
        """
        return as_text(self.value(name, record, otherwise))

    def story(self, record: Record, otherwise: Any, file: Path, number: int) -> str:
        """The id of the record's story; DataError where the record has none, because every row needs one."""
        name = self.text("story", record, otherwise)
        if name is None:
            path = self.given.get("story")
            hint = Advice("give the path of the story's id: {columns}", columns={"story": "PATH"})
            raise DataError("nothing names the story", file=file, row=number, column=path, hint=hint)
        return name

    def check(self, file: Path) -> None:
        """Raise DataError if the user gave a path for a field at which no record of the log had a value."""
        for name, path in self.given.items():
            if name not in self.fields_found and name in self.seen:
                examples = ", ".join(self.seen[name])
                raise DataError(f"no record has {path!r} (for {name})", file=file, allowed=f"such as {examples}")


def at(record: Any, path: str) -> Any:
    """Value at a dotted path, also through keys that contain dots; `_NOTHING` where the record has no such path."""
    if path == "":
        return record
    if isinstance(record, Mapping):
        if path in record:
            return record[path]
        head, _, rest = path.partition(".")
        while rest:
            if head in record:
                inner = at(record[head], rest)
                if inner is not _NOTHING:
                    return inner
            more, _, rest = rest.partition(".")
            head = f"{head}.{more}"
    elif isinstance(record, Sequence) and not isinstance(record, str):
        head, _, rest = path.partition(".")
        if head.isdecimal() and int(head) < len(record):
            return at(record[int(head)], rest)
    return _NOTHING


def paths(record: Any, depth: int = 3, before: str = "") -> Iterable[str]:
    """Dotted paths to the values in a record, down to `depth` levels, for an error message."""
    if isinstance(record, Mapping) and depth and record:
        for key, value in record.items():
            yield from paths(value, depth - 1, f"{before}.{key}" if before else str(key))
    elif before:
        yield before


def as_text(value: Any) -> str | None:
    """A value as text: objects and lists as JSON, null and the empty text as None."""
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, int | float) else orjson.dumps(value, default=str).decode()
