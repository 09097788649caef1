"""Fenced blocks of a Markdown page, in order, with what stands before them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_FENCE = re.compile(r"(?ms)(?:<!-- with: (?P<needs>\S+) -->\n)?^```(?P<kind>\w*)\n(?P<text>.*?)^```\n?")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block: its language, its text, the model that it needs (if any), and its text's place in the page."""

    kind: str
    text: str
    needs: str | None
    start: int
    end: int


def blocks(page: str) -> list[Block]:
    """All fenced blocks of a page."""
    return [Block(found["kind"], found["text"], found["needs"], *found.span("text")) for found in _FENCE.finditer(page)]


def prose_pages() -> list[Path]:
    """README and every page of docs that people write; pages made from the program are left out."""
    made = ROOT / "docs/reference"
    pages = [path for path in sorted((ROOT / "docs").rglob("*.md")) if made / "commands" not in path.parents]
    generated = {made / name for name in ("python.md", "run_yaml_fields.md", "prompt_files.md")}
    return [ROOT / "README.md", *(path for path in pages if path not in generated)]


def commands_in(page: str) -> list[str]:
    """Every `judge ...` of a page: lines of shell blocks, joined where they go on, and commands within sentences."""
    shell = [block.text.replace("\\\n", " ") for block in blocks(page) if block.kind == "bash"]
    lines = [re.split(r"\s#\s", line)[0].strip() for text in shell for line in text.splitlines()]
    outside = re.sub(r"(?ms)^```.*?^```", "", page)
    within = [" ".join(line.split()) for line in re.findall(r"`(judge [a-z][^`]*)`", outside)]
    return [line for line in [*lines, *within] if line.startswith("judge ")]
