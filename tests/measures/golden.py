"""Golden values of string measures: pairs of texts with what ten programs made of them, and HANNA's released cells."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from judge.inputs.datasets.studies.hanna import read_human_stories
from judge.lab.measures import Item


class Pair(NamedTuple):
    """A pair's texts, and the golden values of it by column."""

    id: str
    item: Item
    values: dict[str, str]


@dataclass(frozen=True)
class Golden:
    """All pairs, the released cells of some of them, and the 96 human stories that CIDEr weighs by."""

    pairs: tuple[Pair, ...]
    released: dict[str, dict[str, float]]
    cider: dict[str, float]
    human: tuple[str, ...]


def read(studies: Path) -> Golden:
    """The files in `golden/measures` of the studies' folder."""
    folder = studies / "golden" / "measures"
    texts = {one["id"]: one for one in json.loads((folder / "pair_texts.json").read_text(encoding="utf-8"))}
    pairs = tuple(
        Pair(row["id"], Item(*(texts[row["id"]][key] for key in ("candidate", "reference", "prompt"))), row)
        for row in _rows(folder / "pair_values.csv")
    )
    released = {
        row.pop("id"): {column: float(cell) for column, cell in row.items() if cell}
        for row in _rows(folder / "hanna30_released_columns.csv")
    }
    cider = {row["id"]: float(row["released"]) for row in _rows(folder / "hanna30_cider.csv")}
    human = tuple(story.text for story in read_human_stories(studies / "hanna" / "hanna_llm_stories.csv"))
    return Golden(pairs, released, cider, human)


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))
