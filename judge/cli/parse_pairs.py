"""Command `judge parse --pair`: reads which of two stories each answer prefers. The parsers are in
`judge.answers.parsing`."""

from __future__ import annotations

from pathlib import Path

from judge.answers.parsing.answers_file import (
    Compared,
    pair_labels_fault,
    pairs_summary,
    parse_comparisons,
    read_comparisons,
)
from judge.answers.parsing.verdict import CHOICES, VERSION
from judge.base.errors import SpecError
from judge.base.printing.tables import Column, Table
from judge.base.records import Structured
from judge.version import __version__


def verdicts(path: Path, labels: str | None, criterion: str | None, structured: Structured) -> Table:
    """All answers in a file with the preference that each states; texts are not shortened. `labels` are words for
    (first, second, tie), separated by commas; `criterion` is for answers without one."""
    if not path.is_file():
        raise SpecError(f"--pair reads a file, and {path} is none", hint='give JSON Lines with {"text": "..."} a line')
    parsed = parse_comparisons(read_comparisons(path, _choices(labels), criterion), structured)
    passed = dict.fromkeys(key for line in parsed for key in line.answer.passed)
    keys = ("line", *passed, "preference", "status", "flags", "explanation")
    rows = [line.row() for line in parsed]
    return Table(
        "Verdicts", [Column(key, key) for key in keys], rows, _signature(path, parsed), [pairs_summary(parsed)]
    )


def _choices(labels: str | None) -> tuple[str, ...]:
    if labels is None:
        return CHOICES
    words = [" ".join(part.split()) for part in labels.split(",")]
    wrong = pair_labels_fault(words)
    if wrong is not None:
        raise SpecError(f"--labels {wrong}", hint="with --pair write first,second,tie, e.g. --labels A,B,C")
    return tuple(words)


def _signature(path: Path, parsed: list[Compared]) -> str:
    names = ",".join(sorted({line.answer.criterion or "unnamed" for line in parsed}))
    labels = ",".join(sorted({"/".join(line.answer.choices) for line in parsed}))
    lost = sum(line.verdict.preference is None for line in parsed) / len(parsed)
    asked = f"{path.name}:{len(parsed)}|crit:{names}|labels:{labels}"
    return f"{asked}|parser:{VERSION}|unparsed:{lost:.1%}|v{__version__}"
