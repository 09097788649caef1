"""What the studies printed, as data that ships with the program: the only numbers here that were copied."""

from __future__ import annotations

import csv
from collections.abc import Mapping

from judge.reproduce.cell import Place
from judge.shipped import package_file


def published(study: str) -> Mapping[Place, float | None]:
    """Printed cells of `hanna` or `openmeva`; None = the cell is blank in print."""
    path = package_file("reproduce", f"{study}_published.csv")
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    return {(r["table"], r["row"], r["column"]): float(r["published"]) if r["published"] else None for r in rows}
