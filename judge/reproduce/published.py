"""Reads the studies' printed numbers, which are shipped with the program.

A printed cell is one table, row and column of the publication, and occurs once in a study's file.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from judge.base.errors import DataError
from judge.base.folders.shipped import package_file
from judge.reproduce.cell import VERDICTS, Place, Verdict


@dataclass(frozen=True, slots=True)
class Printed:
    """Content of one cell of a table that a study published: a number, words, or None for a blank.

    `source` says where the cell is printed. `verdict` says whether the cell can be checked; None without a verdict.
    """

    value: float | str | None
    source: str
    verdict: Verdict | None = None


def published(study: str) -> Mapping[Place, Printed]:
    """Printed cells of a study (`hanna`, `openmeva`, `storyer` or `ttcw`), by (table, row, column)."""
    return read_published(package_file("reproduce", "published_data", f"{study}_published.csv"))


def read_published(path: Path) -> Mapping[Place, Printed]:
    """Read a file of printed cells. Raises DataError if a cell is listed twice, since it would be counted twice."""
    entries: dict[Place, Printed] = {}
    with path.open(encoding="utf-8", newline="") as stream:
        for number, row in enumerate(csv.DictReader(stream), start=2):
            place = (row["table"], row["row"], row["column"])
            if place in entries:
                raise DataError("a printed cell occurs twice", file=path, row=number, found=", ".join(place))
            entries[place] = Printed(_value(row["published"]), row["source"], _verdict(row.get("verdict")))
    return entries


def _value(text: str) -> float | str | None:
    try:
        return float(text) if text else None
    except ValueError:
        return text


def _verdict(text: str | None) -> Verdict | None:
    return next((verdict for verdict in VERDICTS if verdict == text), None)
