"""Ledger of the uses of test parts: how often their story-prompts have decided on a prompt before.

A use is one improvement that began to ask about its test part. It is written beside the run and into the user's own
folder, so that copies of a run, and other runs on the same stories, find it. Improvements whose test parts share a
story-prompt count as uses of one another, whatever their seeds.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from judge.base.errors import DataError
from judge.base.files import config_folder

FILE = "test_uses.jsonl"


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a test part: the improvement's id, the keys of its story-prompts, and seconds since 1970."""

    id: str
    keys: tuple[str, ...]
    began: float


def ledgers(run: Path) -> tuple[Path, Path]:
    """The two files that hold uses: in the run's folder of improvements, and the user's own."""
    return run / FILE, config_folder() / FILE


def uses(files: Sequence[Path]) -> list[Use]:
    """All uses in these files, each once, by time. Raises DataError for a line that is none."""
    found = {use.id: use for file in files if file.is_file() for use in _read(file)}
    return sorted(found.values(), key=lambda use: (use.began, use.id))


def _read(file: Path) -> Iterator[Use]:
    for row, line in enumerate(file.read_bytes().splitlines(), 1):
        if not line.strip():
            continue
        try:
            value = orjson.loads(line)
            yield Use(str(value["id"]), tuple(map(str, value["keys"])), float(value["began"]))
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
            hint = "restore the file from a copy: without it a test part counts as fresh"
            raise DataError("is no use of a test part", file=file, row=row, hint=hint) from error


def number_of_use(improvement: str, keys: Sequence[str], files: Sequence[Path]) -> int:
    """Which use of its test part this improvement is, from 1; one that is in the ledger keeps its number."""
    earlier = 0
    for use in uses(files):
        if use.id == improvement:
            break
        earlier += not set(keys).isdisjoint(use.keys)
    return earlier + 1


def note(improvement: str, keys: Sequence[str], files: Sequence[Path]) -> None:
    """Write the use into every ledger that lacks it, before anything is asked of the test part."""
    line = {"id": improvement, "keys": sorted(keys), "began": time.time()}
    for file in files:
        if any(use.id == improvement for use in uses([file])):
            continue
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("ab") as stream:
                stream.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
        except OSError as error:
            raise DataError(f"cannot be written: {error.strerror}", file=file) from error
