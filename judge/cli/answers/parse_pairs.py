"""`judge parse --pair`: reads which of two stories answers prefer. The work is in `judge.parsing`."""

from __future__ import annotations

from pathlib import Path

from judge.errors import SpecError
from judge.parsing.pairs_file import Compared, labels_fault, parse_comparisons, read_comparisons, summary
from judge.parsing.verdict import CHOICES, VERSION
from judge.printing.tables import Column, Table
from judge.records import Structured
from judge.version import __version__


def verdicts(path: Path, labels: str | None, criterion: str | None, structured: Structured) -> Table:
    """The table of all answers of a file, every text whole."""
    if not path.is_file():
        raise SpecError(f"--pair reads a file, and {path} is none", hint='give JSON Lines with {"text": "..."} a line')
    parsed = parse_comparisons(read_comparisons(path, _choices(labels), criterion), structured)
    passed = dict.fromkeys(key for one in parsed for key in one.answer.passed)
    keys = ("line", *passed, "preference", "status", "flags", "explanation")
    rows = [one.row() for one in parsed]
    return Table("Verdicts", [Column(key, key) for key in keys], rows, _signature(path, parsed), [summary(parsed)])


def _choices(labels: str | None) -> tuple[str, ...]:
    if labels is None:
        return CHOICES
    found = [" ".join(part.split()) for part in labels.split(",")]
    wrong = labels_fault(found)
    if wrong is not None:
        raise SpecError(f"--labels {wrong}", hint="with --pair write first,second,tie, e.g. --labels A,B,C")
    return tuple(found)


def _signature(path: Path, parsed: list[Compared]) -> str:
    names = ",".join(sorted({one.answer.criterion or "unnamed" for one in parsed}))
    labels = ",".join(sorted({"/".join(one.answer.choices) for one in parsed}))
    lost = sum(one.verdict.preference is None for one in parsed) / len(parsed)
    asked = f"{path.name}:{len(parsed)}|crit:{names}|labels:{labels}"
    return f"{asked}|parser:{VERSION}|unparsed:{lost:.1%}|v{__version__}"
