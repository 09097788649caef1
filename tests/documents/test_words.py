"""Plain words: short sentences in help and in what is printed, blocks that fit a page, each term once."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.documents.blocks import ROOT, blocks
from tests.documents.test_pages import commands

MOST_WORDS, WIDE = 30, 80

# Lines beyond 80 columns of what is printed, by page: no page may have more, and no other page one. Printed by a model
# that is packaged apart, a line of JSON or of the interface of Python that cannot be parted, or shell messages.
PRINTED_WIDE = {
    "docs/guides/reading_answers.md": 5,
    "docs/slurm.md": 2,
    "docs/tutorials/first_run.md": 10,
}
# The same of what is typed: YAML, JSON, Jinja, Python, and commands that cannot be parted.
TYPED_WIDE = 30
PRINTED = ("", "text", "console")


def _pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def _wide(path: Path) -> dict[bool, list[str]]:
    """Lines beyond 80 columns, of printed (True) and of typed blocks."""
    found: dict[bool, list[str]] = {True: [], False: []}
    for block in blocks(path.read_text(encoding="utf-8")):
        found[block.kind in PRINTED] += [line for line in block.text.splitlines() if len(line) > WIDE]
    return found


def test_what_is_printed_fits_the_page() -> None:
    wide = {path.relative_to(ROOT).as_posix(): _wide(path) for path in _pages()}
    assert {name: len(lines[True]) for name, lines in wide.items() if lines[True]} == PRINTED_WIDE
    assert sum(len(lines[False]) for lines in wide.values()) <= TYPED_WIDE


def _long(text: str, ends: str) -> list[str]:
    """Sentences of more than 30 words; numbers and signs are no words."""
    parts = re.split(rf"(?<=[{ends}])\s+|\n\n", text)
    return [part for part in parts if len(re.findall(r"[^\W\d_][\w'’-]*", part)) > MOST_WORDS]


def _help() -> Iterator[str]:
    for command in commands().values():
        for paragraph in (command.help or "").split("\n\n"):
            if not paragraph.strip().startswith(("\b", "Example:")):
                yield paragraph
        yield from (getattr(parameter, "help", None) or "" for parameter in command.params)


def test_sentences_of_help_are_short() -> None:
    texts = list(_help())
    assert len(texts) > 400
    assert [sentence for text in texts for sentence in _long(text, ".!?")] == []


# What is no sentence of ours: texts of stories, prompts and answers, and lists of what was chosen.
_QUOTED = {"signature", "columns", "example", "explanation", "text", "content"}


def _printed(value: Any, key: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name not in _QUOTED:
                yield from _printed(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _printed(inner, key)
    elif isinstance(value, str):
        yield value


def test_sentences_of_tables_are_short() -> None:
    """In all that the golden tables hold; a semicolon ends what one has to keep in mind."""
    files = sorted((ROOT / "tests/golden_tables").rglob("*.json"))
    assert len(files) > 200
    texts = {text for file in files for text in _printed(json.loads(file.read_text(encoding="utf-8")))}
    assert sorted({sentence for text in texts for sentence in _long(text, ".!?;")}) == []


# Where sentences are written for people, and not patterns of answers.
_WRITTEN = (
    "analysis",
    "asking",
    "base",
    "cli",
    "contamination",
    "exchange",
    "lab",
    "questions",
    "ratings",
    "show",
    "stats",
)
_NO_SENTENCE = re.compile(r"\\\\|\(\?:|SELECT |\|.*\|")


def _literals(tree: ast.AST) -> Iterator[str]:
    """Texts in a module that are no docstrings; what is put into one counts as a word."""
    left_out = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    left_out |= {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in left_out:
            yield node.value


def test_sentences_in_the_program_are_short() -> None:
    """Errors, notes, pages and methods: what no help and no golden table holds too."""
    files = [file for name in _WRITTEN for file in sorted((ROOT / "judge" / name).rglob("*.py"))]
    assert len(files) > 400
    texts = {
        (file.name, line)
        for file in files
        for text in _literals(ast.parse(file.read_text(encoding="utf-8")))
        if not _NO_SENTENCE.search(text)
        for line in text.splitlines()
    }
    assert sorted((name, long) for name, line in texts for long in _long(line, ".!?;")) == []


def test_the_glossary_has_each_term_once_in_alphabetical_order() -> None:
    page = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
    rows = [line.split(" | ")[0].removeprefix("| ") for line in page.splitlines() if line.startswith("| ")][1:]
    terms = [term for row in rows for term in row.split(", ")]
    assert len(terms) == len(set(map(str.casefold, terms)))
    assert [row.casefold() for row in rows] == sorted(row.casefold() for row in rows)
    assert len(terms) > 60
