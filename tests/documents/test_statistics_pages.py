"""Every number has an entry: what it means, its formula, when it misleads, its source; modules named there exist."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from tests.documents.blocks import ROOT

PAGES = sorted(path for path in (ROOT / "docs/statistics").glob("*.md") if path.stem != "index")

PARTS = ("Meaning", "Formula", "Misleads", "Undefined", "Source")
OPTIONAL = {"Undefined"}

SHARED_TOOLS = {"near_ties": "ties closer than rounding noise", "correlation.weighted_tau": "tau-b of many resamples"}
"""Modules of judge/stats that compute no number of their own."""


def entries(page: Path) -> list[tuple[str, str]]:
    """Heading and text of each entry."""
    pieces = re.split(r"(?m)^## (.+)$", page.read_text(encoding="utf-8"))[1:]
    return list(zip(pieces[::2], pieces[1::2], strict=True))


def modules_named(text: str) -> set[str]:
    return set(re.findall(r"`judge\.stats\.([\w.]+)`", text))


@pytest.mark.parametrize(
    ("heading", "text"),
    [pytest.param(*entry, id=f"{page.stem}: {entry[0]}") for page in PAGES for entry in entries(page)],
)
def test_an_entry_has_its_parts_in_order(heading: str, text: str) -> None:
    parts = re.findall(r"(?m)^\*\*(\w+)\.?\*\*", text)
    assert parts == [part for part in PARTS if part in parts], heading
    assert set(PARTS) - OPTIONAL <= set(parts), heading
    where = text.strip().split("\n\n")[0]
    assert "`judge " in where or where.startswith(("Named", "Printed")), heading


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_modules_named_exist(page: Path) -> None:
    named = modules_named(page.read_text(encoding="utf-8"))
    assert [name for name in named if importlib.util.find_spec(f"judge.stats.{name}") is None] == []


def test_every_statistic_has_an_entry() -> None:
    root = ROOT / "judge/stats"
    modules = {
        ".".join(path.relative_to(root).with_suffix("").parts) for path in root.rglob("*.py") if path.stem != "__init__"
    }
    named = set().union(*(modules_named(page.read_text(encoding="utf-8")) for page in PAGES))
    assert modules - named - set(SHARED_TOOLS) == set()
    assert set(SHARED_TOOLS) <= modules


def test_the_index_lists_every_page() -> None:
    index = (ROOT / "docs/statistics/index.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\]\((\w+)\.md\)", index)) == {page.stem for page in PAGES}
