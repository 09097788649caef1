"""Files of released answers: lines of JSON, compressed, and tables with a header."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from judge.base.errors import DataError


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a compressed file with one in each line. Raises DataError for a file that holds something else."""
    number = 0
    try:
        with gzip.open(path, "rt", encoding="utf-8") as stream:
            for number, line in enumerate(stream, start=1):  # noqa: B007  named in the error
                yield json.loads(line)
    except (OSError, EOFError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise DataError(f"cannot be read as compressed lines of JSON: {error}", file=path, row=number) from error


def rows_of(path: Path) -> Iterator[dict[str, str]]:
    """The rows of a table with a header, by column."""
    with path.open(encoding="utf-8", newline="") as stream:
        yield from csv.DictReader(stream)
