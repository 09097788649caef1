"""Table 2 of the StoryER study: how often its readers chose each aspect, and their mean rating of it."""

from __future__ import annotations

import csv
from functools import cache

import numpy as np
from numpy.typing import NDArray

from judge.base.folders.shipped import package_file
from judge.inputs.criteria import load_criteria

Floats = NDArray[np.float64]

_TABLE = "aspect_sizes"
_COMMENTS, _RATE = "comments", "rate"


def storyer_aspects() -> tuple[str, ...]:
    """The ten aspects of StoryER, in the order of the study's numbering and of its Table 2."""
    return tuple(criterion.name for criterion in load_criteria("storyer").criteria)


@cache
def printed() -> tuple[Floats, Floats]:
    """Number of comments and mean rating of each of the ten aspects, as published in Table 2 of the StoryER study.

    Both arrays have shape (10,).
    """
    path = package_file("reproduce", "published_data", "storyer_published.csv")
    with path.open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["table"] == _TABLE and row["row"] != "overall"]
    columns = ([float(row["published"]) for row in rows if row["column"] == name] for name in (_COMMENTS, _RATE))
    comments, rates = (np.array(column) for column in columns)
    return comments, rates
