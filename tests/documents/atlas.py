"""The page of the atlas: `python -m tests.documents.atlas --write`, with the studies' files in JUDGE_DATA."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from judge.reproduce import atlas
from judge.reproduce.cell import STUDIES
from judge.reproduce.study import Options, Study

PAGE = Path(__file__).resolve().parents[2] / "docs" / "atlas.md"
LAST = "\nThe same page with every cell: `judge reproduce all -o atlas`.\n"


def section(name: str) -> str:
    """A study's section as the page has it."""
    study: Study = importlib.import_module(f"judge.reproduce.{name.replace('-', '_')}").study(Options())
    return atlas.section(atlas.part_of(study, study.cells(Options())), linked=False)


def page() -> str:
    """The page as it ought to be."""
    return atlas.whole([section(name) for name in STUDIES]) + LAST


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(page(), encoding="utf-8")
