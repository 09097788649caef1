"""Reads the front matter of an Eval-Prompt: the lines between `---` that say what the template needs and requests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field

from judge.base.errors import TemplateError
from judge.inputs.criteria.prompt_file import Strict, read_strict

FENCE = "---"


class FrontMatter(Strict):
    """Schema of an Eval-Prompt's front matter, the lines between `---` at the beginning of its file. All keys are
    optional.

    If `criteria` is given, one answer rates several criteria: all criteria of the run, or those listed.
    """

    description: str = Field(default="", description="one line for `judge prompts list`")
    needs_guidelines: bool = Field(default=False, description="whether criteria without guidelines are refused")
    needs_reference: bool = Field(default=False, description="whether stories without a reference story are left out")
    explains: bool = Field(default=False, description="whether the answer is to hold an explanation")
    compares: bool = Field(default=False, description="whether two stories are compared, in place of one rated")
    writes: bool = Field(default=False, description="whether the template asks for a story (`judge generate`)")
    criteria: Literal["all"] | list[str] | None = Field(
        default=None, description="criteria that one answer rates together: `all` of the run, or a list"
    )
    system: str | None = Field(default=None, description="template of the system message")
    published: str | None = Field(
        default=None, pattern=r"^EP\d+$", description="the study's Eval-Prompt whose wording takes this one's place"
    )
    rating_pattern: str | None = Field(
        default=None,
        min_length=1,
        description="only place of the rating: regular expression with one group, or JSON path",
    )
    example_answer: str | None = Field(
        default=None, min_length=1, description="answer on which `judge prompts check` tries the pattern"
    )


@dataclass(frozen=True, slots=True)
class Split:
    """An Eval-Prompt's file in two parts: the front matter (`front`), and the template (`body`) with the line number of
    its first line.

    `system_line` is the line at which the system message's text begins.
    """

    front: FrontMatter
    body: str
    body_line: int
    system_line: int


def split(source: str, file: Path) -> Split:
    """Front matter and template of an Eval-Prompt. Raises TemplateError, naming file, line and key."""
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
    """Whether two versions of an Eval-Prompt's file send the same messages. They may differ in the keys of the front
    matter that say how answers are read.
    """
    if first == second:
        return True
    reading = {"rating_pattern", "example_answer"}
    first_template, second_template = (split(source, Path("stored template")) for source in (first, second))
    return first_template.body == second_template.body and first_template.front.model_dump(
        exclude=reading
    ) == second_template.front.model_dump(exclude=reading)
