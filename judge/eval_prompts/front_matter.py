"""Front matter of an Eval-Prompt, between lines of `---`: what the template needs and asks for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field

from judge.criteria.prompt_file import Strict, read_strict
from judge.errors import TemplateError

FENCE = "---"


class FrontMatter(Strict):
    """The keys that an Eval-Prompt may have; all may be left out.

    `criteria` says that one answer rates several: all of the run, or those named (or abbreviated) here.
    """

    description: str = ""
    needs_guidelines: bool = False
    needs_reference: bool = False
    explains: bool = False
    compares: bool = False
    writes: bool = False
    criteria: Literal["all"] | list[str] | None = None
    system: str | None = None
    published: str | None = Field(default=None, pattern=r"^EP\d+$")
    rating_pattern: str | None = Field(default=None, min_length=1)
    example_answer: str | None = Field(default=None, min_length=1)


@dataclass(frozen=True, slots=True)
class Split:
    """An Eval-Prompt's file in two: its keys, and the template with the line of the file at which it begins.

    `system_line` is the line at which the system message's text begins.
    """

    front: FrontMatter
    body: str
    body_line: int
    system_line: int


def split(source: str, file: Path) -> Split:
    """Front matter and template of an Eval-Prompt. Raises TemplateError naming file, line and key."""
    lines = source.split("\n")
    if lines[0].rstrip() != FENCE:
        return Split(FrontMatter(), source, 1, 1)
    end = next((i for i, line in enumerate(lines[1:], start=1) if line.rstrip() == FENCE), None)
    if end is None:
        raise TemplateError(
            f"{file}, line 1: the front matter that begins here has no end", hint="close it with a line ---"
        )
    front, places = read_strict("\n".join(lines[1:end]), FrontMatter, file=file, first_line=2, blame=TemplateError)
    line = places.get(("system",), 1)
    block = lines[line - 1].partition(":")[2].strip()[:1] in {"|", ">"}  # the text begins below its key
    return Split(front, "\n".join(lines[end + 1 :]), end + 2, line + block)


def ask_the_same(first: str, second: str) -> bool:
    """Whether two versions of a template send the same messages: they may differ in how answers are read."""
    if first == second:
        return True
    reading = {"rating_pattern", "example_answer"}
    one, other = (split(source, Path("stored template")) for source in (first, second))
    return one.body == other.body and one.front.model_dump(exclude=reading) == other.front.model_dump(exclude=reading)
