"""Verdicts on texts that the rule on words was not set on: read once, margin and flag hidden.

`read_flags.csv` has a row a text: whose, on what, the start of its fingerprint (texts: Art or Artifice), the seed of
the deal that flagged it, whether it was flagged, and the verdict. *contradicts*: the reason answers the test's question
the other way than the label; *hedged*: it says both, or neither; *agrees*. Only the first counts as right.
"""

from __future__ import annotations

import csv
import functools
from dataclasses import dataclass
from typing import Literal, cast

from judge.fingerprint import fingerprint_text
from judge.folders.shipped import package_file

Sample = Literal["experts", "other deals"]
Verdict = Literal["contradicts", "hedged", "agrees"]
# Long enough that no two texts of a study share a mark, short enough to be read in a table.
_DIGITS = 16


@dataclass(frozen=True, slots=True)
class Read:
    """One flagged or unflagged text that was checked by reading, with the verdict. `text` is the start of the text's
    fingerprint.
    """

    sample: Sample
    judge: str
    story: str
    criterion: str
    text: str
    seed: int
    flagged: bool
    verdict: Verdict


def mark(text: str) -> str:
    """Start of a text's fingerprint, which identifies the text in the file."""
    return fingerprint_text(text)[:_DIGITS]


@functools.cache
def read_flags() -> tuple[Read, ...]:
    """Texts that were checked by reading, from the file shipped with the package."""
    file = package_file("explanations", "quality", "contradicting", "read_flags.csv")
    rows = csv.DictReader(file.read_text(encoding="utf-8").splitlines())
    return tuple(
        Read(
            sample=cast("Sample", row["sample"]),
            judge=row["judge"],
            story=row["story"],
            criterion=row["criterion"],
            text=row["text"],
            seed=int(row["seed"]),
            flagged=row["flagged"] == "yes",
            verdict=cast("Verdict", row["verdict"]),
        )
        for row in rows
    )


def precision(sample: Sample, *, flagged: bool = True) -> tuple[int, int]:
    """Number of flagged texts (or of those that were not) that contradict their rating, and number of those read."""
    rows = [row for row in read_flags() if row.sample == sample and row.flagged == flagged]
    return sum(row.verdict == "contradicts" for row in rows), len(rows)
