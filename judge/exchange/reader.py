"""Readers of the files that `judge import` takes: what each recognises, its options, and what it makes of a file."""

from __future__ import annotations

import functools
import importlib
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import entry_points
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

import orjson

from judge.analysis.options.alternatives import Form, option
from judge.base.errors import DataError, SpecError, unknown_value
from judge.base.foreign import json_of, json_value, opening
from judge.base.records import Criterion
from judge.base.wording import Advice
from judge.inputs.criteria import load_criteria
from judge.inputs.datasets import Dataset, open_dataset
from judge.inputs.datasets.files.column_guess import column_options
from judge.inputs.datasets.files.source_file import decode, read_bytes
from judge.inputs.datasets.files.table_file import table_columns

# A first look at a file of unknown form: members of an archive, columns of a table, or the first record of JSON.

_TABLES = (".csv", ".tsv", ".parquet", ".xlsx")
_ARCHIVES = (".eval", ".zip")
_JSON = (".json", ".jsonl", ".ndjson")
# Bytes of a text's first line that are looked at.
_LONGEST_LINE = 1 << 20


@dataclass(frozen=True, slots=True)
class Look:
    """What is seen of a file at first, without regard to its name. `members` are names in a folder or an archive;
    `columns` those of a table in CSV, TSV, Parquet or XLSX; `value` is JSON's, or the first line's of JSON Lines;
    `line` the first of another text."""

    members: frozenset[str] = frozenset()
    columns: frozenset[str] = frozenset()
    value: Any = None
    line: str = ""

    def record(self, path: str = "") -> Mapping[str, Any]:
        """The first record at a dotted path of the JSON value (of a list, its first entry); empty without one."""
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
        with opened_archive(file) as archive:
            return Look(members=frozenset(archive.namelist()))
    if suffix in _JSON or start.lstrip()[:1] in (b"{", b"["):
        first = next(islice(lines(file), 1), (0, None))[1] if starts_lines(file) else whole(file)
        return Look(value=first)
    return Look(line=start.decode("utf-8", "replace"))


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else value


def _start(file: Path) -> bytes:
    with opening(file), file.open("rb") as stream:
        return stream.readline(_LONGEST_LINE)


@contextmanager
def opened_archive(file: Path) -> Iterator[zipfile.ZipFile]:
    """A zip archive that is open for reading; DataError where it is none."""
    try:
        with opening(file):
            archive = zipfile.ZipFile(file)
    except zipfile.BadZipFile as error:
        raise DataError("is no zip archive, or was cut off before its end", file=file) from error
    with archive:
        yield archive


# Readers for the JSON files of evaluation tools: JSON Lines line by line, other files whole up to a size limit.

# Bytes of a file that is read whole.
LARGEST = 1 << 30


def lines(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number, object) of JSON Lines, without blank lines, one in memory at a time."""
    with opening(file), file.open("rb") as stream:
        for number, raw in enumerate(stream, start=1):
            if raw.strip():
                yield number, as_object(parse(raw, file, number), file, number)


def whole(file: Path) -> Any:
    """Value of a file that is a single JSON value; DataError where the file is larger than the limit."""
    with opening(file):
        size = file.stat().st_size
    if size > LARGEST:
        raise DataError(f"is longer than {LARGEST >> 20:,} MiB and not in lines: it is not read whole", file=file)
    return parse(read_bytes(file), file, 1)


def starts_lines(file: Path) -> bool:
    """Whether the file is JSON Lines: by its suffix or, unless this is .json, by its first line, a complete object."""
    if file.suffix.lower() in (".jsonl", ".ndjson"):
        return True
    first = _start(file).strip()
    return len(first) > 2 and first.startswith(b"{") and first.endswith(b"}") and file.suffix.lower() != ".json"


def parse(raw: bytes, file: Path, row: int) -> Any:
    """Value of a JSON text. NaN and infinities, which orjson refuses, are parsed with Python's `json`."""
    try:
        return json_value(raw)
    except orjson.JSONDecodeError:
        pass
    return json_of(decode(raw, file, row), file, row=row)


def as_object(value: Any, file: Path, number: int | str) -> dict[str, Any]:
    """The value, if it is a JSON object; DataError with the line or position `number` otherwise."""
    if not isinstance(value, dict):
        raise DataError("not an object", file=file, row=number, found=value)
    return value


def as_list(value: Any, key: str, file: Path) -> list[Any]:
    """The value, if it is a JSON list; DataError otherwise. `key` names the value in the message."""
    if not isinstance(value, list):
        raise DataError(f"has no list of {key}", file=file)
    return value


# Options that all readers of ratings share, as they are typed.


@dataclass(frozen=True, kw_only=True)
class NotedWords:
    """Options of a reader whose files are given notes."""

    notes: tuple[str, ...] = option(
        "note printed under every table; may be given several times", default=(), metavar="TEXT"
    )


@dataclass(frozen=True, kw_only=True)
class TableWords(NotedWords):
    """Options of a reader whose files hold ratings."""

    dataset: str | None = option("dataset whose texts, systems and people's ratings are joined by the story's id")
    criteria: str | None = option("criteria set that gives abbreviations, scales and labels")
    columns: tuple[str, ...] = option(
        "column (of a log: path in a record) that holds a field; FIELD==TEXT is a constant",
        default=(),
        metavar="FIELD=COLUMN",
    )
    labels: tuple[str, ...] = option(
        "labels of scores that are words, lowest first", default=(), metavar="[CRITERION=]WORD,WORD"
    )
    leave_out: tuple[str, ...] = option(
        "columns of a table, or criteria of a log, that are left out", default=(), metavar="NAME,..."
    )

    @property
    def known_criteria(self) -> tuple[Criterion, ...]:
        """The criteria of the set that was named."""
        return tuple(load_criteria(self.criteria).criteria) if self.criteria else ()

    @property
    def column_map(self) -> dict[str, str]:
        """Field -> column, with the labels."""
        return column_options(self.columns, self.labels) or {}

    @property
    def left_out(self) -> list[str]:
        """Names of what is left out."""
        return [name.strip() for names in self.leave_out for name in names.split(",")]

    def opened(self) -> Dataset | None:
        """The dataset that was named; an error's hint says how to register a table that needs a column map."""
        if self.dataset is None:
            return None
        try:
            return open_dataset(self.dataset, criteria=self.known_criteria)
        except DataError as error:
            if error.hint and "columns" in error.hint:
                words = "give the table a name with its columns: judge data add NAME {} OPTIONS; {}"
                error.hint = Advice(words, self.dataset, error.hint)
            raise


# A reader of one form of file that other programs write, as one record.

# Is told what was read, a line at a time.
Say = Callable[[str], None]

# Reads files with options, and writes a result folder or a run to a path; None takes `folder_for`.
Read = Callable[[Sequence[Path], Any, Path | None, Say], None]


@dataclass(frozen=True, slots=True)
class Reader(Form):
    """A reader of one form of file; a `general` form is taken only where no other fits."""

    fits: Callable[[Look], bool]
    read: Read
    general: bool = False


def folder_for(files: Sequence[Path], target: Path | None) -> Path:
    """The folder to write: `target`, or else runs/FILE, after the first file."""
    return target or Path("runs") / files[0].resolve().stem


# The readers of files by name, and the one that a file is for.

ENTRY_POINT = "judge.readers"

# Name of the option that says what a file is.
AS = "as_"

# Each has its readers as `READERS`.
_MODULES = (
    "judge.exchange.logs.tools",
    "judge.exchange.tables.any_table",
    "judge.exchange.batch.importing",
    "judge.exchange.released",
    "judge.exchange.foreign_answers",
    "judge.exchange.foreign_verdicts",
)


@functools.cache
def readers() -> Mapping[str, Reader]:
    """All readers by name, this program's first."""
    own = [reader for module in _MODULES for reader in importlib.import_module(module).READERS]
    others = [point.load() for point in entry_points(group=ENTRY_POINT)]
    return MappingProxyType({reader.name: reader for reader in (*others, *own)})


def reader_of(files: Sequence[Path], name: str | None = None) -> Reader:
    """The reader of this name, or the only one whose form all the files have. Raises OptionError for an unknown name,
    DataError for a file that cannot be read or has no known form, and SpecError where files have several forms."""
    known = readers()
    if name is not None:
        if name not in known:
            raise unknown_value(AS, name, known)
        return known[name]
    fitting = {file: _fitting(file) for file in files}
    common = set.intersection(*(set(names) for names in fitting.values()))
    if len(common) == 1:
        return known[common.pop()]
    hint = Advice(f"import each by itself, or say what they are: {{{AS}}}", **{AS: "NAME"})
    if not common:
        told = "; ".join(f"{file}: {', '.join(names)}" for file, names in fitting.items())
        raise SpecError(f"the files have several forms: {told}", hint=hint)
    several = sorted(common)
    say = Advice(" or ".join("{}" for _ in several), *(Advice(f"{{{AS}}}", **{AS: each}) for each in several))
    raise SpecError(f"{files[0]} may be of {len(several)} forms: {', '.join(several)}", hint=say)


def _fitting(file: Path) -> list[str]:
    # A general form counts only where no other fits.
    look = look_at(file)
    fit = [reader for reader in readers().values() if reader.fits(look)]
    special = [reader for reader in fit if not reader.general]
    if not fit:
        raise DataError(
            "is of no form that is recognised",
            file=file,
            allowed=", ".join(readers()),
            hint=Advice(f"say what it is: {{{AS}}}; judge import --help has a line on each", **{AS: "NAME"}),
        )
    return [reader.name for reader in special or fit]
