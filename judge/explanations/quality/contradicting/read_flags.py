"""Verdicts of a person on explanations that were read to measure the precision of a rule: the rule that flags an
explanation if its words disagree with its rating. None of these explanations was used to set the rule, and the reader
did not see which were flagged.

`read_flags.csv` has one row for each explanation, all from Art or Artifice: judge, story and criterion, the start of
the text's fingerprint, the random seed of the folds, whether the text was flagged, and the verdict. *contradicts*: the
explanation gives the opposite answer to the test's question than the label. *hedged*: it gives both answers or neither.
*agrees*: it gives the label's answer. A flag counts as correct only for *contradicts*.
"""

from __future__ import annotations

import csv
import functools
from dataclasses import dataclass
from typing import Literal, cast

from judge.base.fingerprint import fingerprint_text
from judge.base.folders.shipped import package_file

Sample = Literal["experts", "other deals"]
Verdict = Literal["contradicts", "hedged", "agrees"]
# Long enough that no two texts of a study share a mark, short enough to be read in a table.
_DIGITS = 16


@dataclass(frozen=True, slots=True)
class Read:
    """An explanation that a person read to measure the precision of the rule that flags contradictions: its source,
    whether the rule flagged it, and the reader's verdict.

    `text` is the start of the text's fingerprint (hash), `sample` the name of the sample to which it belongs, and
    `seed` the random seed with which the rule was applied.
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
    """Start of a text's fingerprint (hash), which identifies the text in the shipped file of explanations that a person
    read to check flags.
    """
    return fingerprint_text(text)[:_DIGITS]


@functools.cache
def read_flags() -> tuple[Read, ...]:
    """The explanations that a person read to measure the precision of the rule that flags contradictions, with the
    verdicts, from the file shipped with the package.
    """
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
    """Number of explanations that contradict their rating, and number of explanations read, among those of a sample
    that the rule on words flagged. With `flagged` False, both are counted among those that it did not flag.

    The verdicts are those of a person who read the sample.
    """
    rows = [row for row in read_flags() if row.sample == sample and row.flagged == flagged]
    return sum(row.verdict == "contradicts" for row in rows), len(rows)
