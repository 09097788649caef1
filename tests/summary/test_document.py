"""docs/summary.md lists every verdict, with the limits of the program; other tests find each printed verdict in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from judge.questions.summary.people import MARGIN
from judge.questions.summary.rules import FEW_SYSTEMS, WIDE
from judge.questions.summary.summarize import CONDITIONS

DOCUMENT = (Path(__file__).resolve().parents[2] / "docs/summary.md").read_text(encoding="utf-8")


def verdicts() -> set[tuple[str, str, str]]:
    """Every verdict of the document: the short name of its answer, its text, and when it is given."""
    parts = re.split(r"^### (\w+): .*$", DOCUMENT.split("## What may be missing")[0], flags=re.MULTILINE)[1:]
    return {
        (answer, verdict, when)
        for answer, text in zip(parts[::2], parts[1::2], strict=True)
        for verdict, when, _ in _rows(text)
    }


def _rows(text: str) -> Iterator[list[str]]:
    """Verdict, when it is given, and what it does not say."""
    for row in text.split("\n## ", maxsplit=1)[0].splitlines():
        if row.startswith("| ") and not row.startswith("| verdict "):
            yield row.strip("| ").split(" | ")


def test_every_verdict_says_what_it_leaves_open() -> None:
    rows = [row for part in re.split(r"(?m)^### ", DOCUMENT)[1:] for row in _rows(part)]
    assert len(rows) > 70
    assert all(len(row) == 3 and all(cell.strip() for cell in row) for row in rows)


def test_limits_in_the_document_are_those_of_the_program() -> None:
    rules = {(answer, verdict): when for answer, verdict, when in verdicts()}
    assert f"({100 * MARGIN:.0f} points of tau x100 " in rules["people", "not below people"]
    assert f"above minus {MARGIN:g}" in rules["labels", "not below people"]
    assert rules["stories", f"enough for tau to ±{100 * WIDE:.0f}"].count(f"{100 * WIDE:.0f} points") == 1
    assert all(f"fewer than {FEW_SYSTEMS} systems" in rules[name, "too few systems"] for name in ("systems", "better"))


def test_every_condition_stands_in_the_document() -> None:
    rows = DOCUMENT.split("## What may be missing")[1].splitlines()
    written = [tuple(row.strip("| ").split(" | ")) for row in rows if row.startswith("| ")]
    assert written == [("name", "when"), *((one.name, one.when) for one in CONDITIONS)]
