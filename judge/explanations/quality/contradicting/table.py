"""The table of flagged contradictions, with the measured precision of the rules."""

from __future__ import annotations

import csv
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, cast

from judge.base.estimate import Estimate
from judge.base.fingerprint import fingerprint_text
from judge.base.folders import package_file
from judge.base.printing.tables import Column, Table
from judge.explanations.quality.contradicting.contradictions import AUDITED, Contradictions
from judge.stats.shares.proportion import wilson

# Verdicts of a person on explanations that were read to measure the precision of a rule: the rule that flags an
# explanation if its words disagree with its rating. None of these explanations was used to set the rule, and the
# reader did not see which were flagged.

Sample = Literal["experts", "other deals"]
Verdict = Literal["contradicts", "hedged", "agrees"]
# Long enough that no two texts of a study share a mark, short enough to be read in a table.
_DIGITS = 16


@dataclass(frozen=True, slots=True)
class Read:
    """An explanation that a person read to measure the precision of the rule, whether it was flagged, and the verdict.
    `text` is the start of the text's hash, and `seed` the one with which the rule was applied."""

    sample: Sample
    judge: str
    story: str
    criterion: str
    text: str
    seed: int
    flagged: bool
    verdict: Verdict


def mark(text: str) -> str:
    """Start of a text's hash, which identifies it in the shipped file of read explanations."""
    return fingerprint_text(text)[:_DIGITS]


@functools.cache
def read_flags() -> tuple[Read, ...]:
    """The explanations that a person read to measure the rule's precision, from the file shipped with the package."""
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
    """(explanations that contradict their rating, all read) among those of a sample that the rule on words flagged.
    With `flagged` False, among those that it did not flag."""
    rows = [row for row in read_flags() if row.sample == sample and row.flagged == flagged]
    return sum(row.verdict == "contradicts" for row in rows), len(rows)


_WRAP = 70
_FRESH: dict[Sample, str] = {
    "experts": "of people's explanations, of which words tell too little, so that the rule is not used on such texts",
    "other deals": "of the same judges' answers that are flagged with other seeds alone",
}


def table(contradictions: Contradictions) -> Table:
    """The table of flagged texts, the clearest first, with counts and the measured precision of the rules."""
    columns = [
        Column("judge", "judge"),
        Column("eval_prompt", "eval prompt"),
        Column("criterion", "criterion"),
        Column("story", "story"),
        Column("repeat", "repeat"),
        Column("rating", "rating", digits=1),
        Column("suggested", "text suggests", digits=1),
        Column("rule", "by"),
        Column("text", "text", text=True, wrap=_WRAP),
    ]
    rows = [{column.key: getattr(flag, column.key) for column in columns} for flag in contradictions.flagged]
    kept = [column for column in columns if not rows or any(row[column.key] is not None for row in rows)]
    title = "Answers whose reason contradicts their rating"
    return Table(title, kept, rows, contradictions.signature, tuple(_notes(contradictions)))


def _notes(contradictions: Contradictions) -> Iterator[str]:
    count = f"{len(contradictions.flagged)} of {contradictions.texts}"
    yield f"flagged: {count} rated texts ({_percent(contradictions.share)} %)"
    for rule, right, read in AUDITED:
        share = _percent(wilson(right, read))
        sample_words = (
            "of five judges' answers to TTCW on which the rule was set, which flatters it: read a flag before it counts"
        )
        contradicted = f"{right} of {read} flagged answers contradicted their rating when read ({share} %)"
        yield f"precision of the rule on {rule}: {contradicted}, {sample_words}"
    for sample, sample_words in _FRESH.items():
        right, read = precision(sample)
        share = _percent(wilson(right, read))
        yield f"on texts that it was not set on it is lower: {right} of {read} ({share} %) {sample_words}"
    if any(flag.rule == "guideline" for flag in contradictions.flagged):
        yield "the rule on guidelines was not audited: no answer of the studies at hand was flagged by it"
    if contradictions.side_accuracy.value is not None:
        yield f"words predict the correct side of the scale for {_percent(contradictions.side_accuracy)} % of the texts"
    yield "words: predicted from the words of texts about other story-prompts; guideline: quotes that of another point"
    yield from contradictions.notes


def _percent(share: Estimate) -> str:
    if share.value is None or share.low is None or share.high is None:
        return "undefined"
    return f"{100 * share.value:.1f} [{100 * share.low:.1f}, {100 * share.high:.1f}]"
