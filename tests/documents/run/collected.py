"""Commands of the documentation: those of shell blocks, page by page, and the examples of help texts."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from tests.documents.blocks import ROOT, blocks, prose_pages
from tests.documents.test_pages import commands


@dataclass(frozen=True, slots=True)
class Command:
    """One command: where it stands (a page, or `help`), its line as written, and the words of each part of it."""

    place: str
    line: str

    @property
    def parts(self) -> list[tuple[list[str], str | None]]:
        """Words of each `judge` between `&&`, with the file that its output goes to; what a pipe feeds is left out."""
        found = []
        for part in self.line.split(" && "):
            words = shlex.split(part.split(" | ")[0])
            target = words[words.index(">") + 1] if ">" in words else None
            found.append((words[1 : words.index(">")] if target else words[1:], target))
        return found


def of_pages() -> dict[str, list[Command]]:
    """Page -> its commands in order; tutorials, which are run as they stand, are left out."""
    by_page = {}
    for path in prose_pages():
        if path.parent.name == "tutorials":
            continue
        name = path.relative_to(ROOT).as_posix()
        page = path.read_text(encoding="utf-8")
        shell = [re.sub(r" *\\\n *", " ", block.text) for block in blocks(page) if block.kind == "bash"]
        lines = [_bare(line) for text in shell for line in text.splitlines()]
        if found := [Command(name, line) for line in lines if line.startswith("judge ")]:
            by_page[name] = found
    return by_page


def of_help() -> dict[str, list[Command]]:
    """Path of a command -> the examples of its help."""
    by_path = {}
    for path, command in commands().items():
        examples = re.findall(r"Example: (judge (?:.|\n(?!\n))*)", command.help or "")
        by_path[path] = [Command("help", " ".join(example.split())) for example in examples]
    return by_path


def _bare(line: str) -> str:
    """A line without the comment at its end."""
    return re.split(r"\s#\s", line)[0].strip().removeprefix("exec ")
