"""docs/summary.md and the rules in the code are the same."""

from __future__ import annotations

import re
from pathlib import Path

from judge.questions.summary.rules import RULES
from judge.questions.summary.summarize import CONDITIONS

DOCUMENT = (Path(__file__).resolve().parents[2] / "docs/summary.md").read_text(encoding="utf-8")


def test_every_rule_stands_in_the_document_under_its_answer_and_nothing_else_does() -> None:
    parts = re.split(r"^### (\w+): .*$", DOCUMENT.split("## What may be missing")[0], flags=re.MULTILINE)[1:]
    written = {
        (answer, *row.strip("| ").split(" | "))
        for answer, text in zip(parts[::2], parts[1::2], strict=True)
        for row in text.splitlines()
        if row.startswith("| ") and not row.startswith("| verdict ")
    }
    assert written == {(rule.answer, rule.verdict, rule.when) for rule in RULES}


def test_every_condition_stands_in_the_document() -> None:
    rows = DOCUMENT.split("## What may be missing")[1].splitlines()
    written = [tuple(row.strip("| ").split(" | ")) for row in rows if row.startswith("| ")]
    assert written == [("name", "when"), *((one.name, one.when) for one in CONDITIONS)]
