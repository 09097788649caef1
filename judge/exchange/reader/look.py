"""A first look at a file of unknown form: members of an archive, columns of a table, or the first record of JSON."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from judge.base.errors import DataError
from judge.exchange.reader.json_files import lines, starts_lines, whole
from judge.inputs.datasets.files.table_file import table_columns

_TABLES = (".csv", ".tsv", ".parquet", ".xlsx")
_ARCHIVES = (".eval", ".zip")
_JSON = (".json", ".jsonl", ".ndjson")
_LONGEST_LINE = 1 << 20
"""Bytes of a text's first line that are looked at."""


@dataclass(frozen=True, slots=True)
class Look:
    """What is seen of a file at first, without regard to its name.

    Attributes
    ----------
    members : frozenset of str
        Names of files in a folder or an archive.
    columns : frozenset of str
        Columns of a table in CSV, TSV, Parquet or XLSX.
    value : Any
        The value of a JSON file; of JSON Lines, the first line's.
    line : str
        The first line of a text that is not JSON.
    """

    members: frozenset[str] = frozenset()
    columns: frozenset[str] = frozenset()
    value: Any = None
    line: str = ""

    def record(self, path: str = "") -> Mapping[str, Any]:
        """The first record at a dotted path of keys of the JSON value; of a list, its first entry. Empty where there is
        none.
        """
        value = _first(self.value)
        for key in filter(None, path.split(".")):
            value = _first(value.get(key)) if isinstance(value, Mapping) else None
        return value if isinstance(value, Mapping) else {}

    def has(self, *keys: str, at: tuple[str, ...] = ("",)) -> bool:
        """Whether the first record at one of these paths has all the keys."""
        return any(self.record(path).keys() >= set(keys) for path in at)


def look_at(file: Path) -> Look:
    """A look at a file or folder. Raises DataError where it cannot be read, or is damaged."""
    suffix = file.suffix.lower()
    if file.is_dir():
        return Look(members=frozenset(path.name for path in file.iterdir()))
    if suffix in _TABLES and file.is_file():
        return Look(columns=frozenset(table_columns(file)))
    start = _start(file)
    if start.startswith(b"PK") or suffix in _ARCHIVES:
        return Look(members=_members(file))
    if suffix in _JSON or start.lstrip()[:1] in (b"{", b"["):
        first = next(islice(lines(file), 1), (0, None))[1] if starts_lines(file) else whole(file)
        return Look(value=first)
    return Look(line=start.decode("utf-8", "replace"))


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else value


def _start(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.readline(_LONGEST_LINE)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", file=file) from error


def _members(file: Path) -> frozenset[str]:
    try:
        with zipfile.ZipFile(file) as archive:
            return frozenset(archive.namelist())
    except (OSError, zipfile.BadZipFile) as error:
        raise DataError("is no zip archive, or was cut off before its end", file=file) from error
