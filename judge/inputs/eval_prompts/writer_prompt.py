"""Loads a writer prompt (a template that requests a story) and renders it to messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from judge.base.errors import TemplateError
from judge.base.folders.shipped import shipped
from judge.base.records import Message, StoryPrompt
from judge.inputs.criteria.prompt_file import Strict, locate, read_strict, read_text
from judge.inputs.eval_prompts.sandbox import Compiled, compile_template

# Reads the front matter of an Eval-Prompt: the lines between `---` that say what the template needs and requests.

FENCE = "---"


class FrontMatter(Strict):
    """Front matter of an Eval-Prompt, between `---` at its beginning. All keys are optional. With `criteria`, one
    answer rates several."""

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
    """An Eval-Prompt's file in two parts, with the lines at which `body` and the system message's text begin."""

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
    """Whether two versions send the same messages: only keys on how answers are read may differ."""
    if first == second:
        return True
    reading = {"rating_pattern", "example_answer"}
    first_template, second_template = (split(source, Path("stored template")) for source in (first, second))
    return first_template.body == second_template.body and first_template.front.model_dump(
        exclude=reading
    ) == second_template.front.model_dump(exclude=reading)


SUFFIX = ".jinja"

# What a writer prompt may name. The human story is not offered: a writer that is shown it would copy it.
OFFERED: Mapping[str, str] = {
    "story_prompt": "what the story is to be written for",
    "words": "words.min and words.max: how long it is to be; not defined where the definition says nothing of it",
}

_OWN = frozenset({"description", "system", "writes"})


@dataclass(frozen=True, slots=True)
class WordsView:
    """Requested length of a story in words, in templates."""

    min: int
    max: int


@dataclass(frozen=True, slots=True)
class WriterPrompt:
    """A prompt that requests a story. `source` is the text of the whole file, for hashing."""

    name: str
    source: str
    description: str
    body: Compiled = field(repr=False, compare=False)
    system: Compiled | None = field(repr=False, compare=False)

    def render(self, wanted: StoryPrompt, words: tuple[int, int] | None) -> tuple[Message, ...]:
        """The messages exactly as sent. `words` is the smallest and largest requested length (None = no request).
        Raises TemplateError."""
        values: dict[str, Any] = {"story_prompt": wanted.text}
        if words is not None:
            values["words"] = WordsView(*words)
        text = self.body.render(values)
        if self.system is None:
            return (Message("user", text),)
        return (Message("system", self.system.render(values)), Message("user", text))


def load_writer_prompt(name: str, *, folder: Path | None = None, system: str | None = None) -> WriterPrompt:
    """A shipped writer prompt, or a template (also relative to `folder`). `system` replaces the system message; ""
    removes it."""
    file = locate(name, kind="writer_prompts", suffix=SUFFIX, kind_name="writer prompt", folder=folder)
    return parse_writer_prompt(read_text(file), file, system=system)


def parse_writer_prompt(source: str, file: Path, *, system: str | None = None) -> WriterPrompt:
    """A writer prompt from the text of `file`. `system` replaces its system message; "" removes it. Raises
    TemplateError for another template."""
    parts = split(source, file)
    front = parts.front
    if not front.writes:
        raise TemplateError(f"{file}: is no writer prompt", hint="say writes: true between the lines --- at its head")
    if not parts.body.strip():
        raise TemplateError(f"{file}, line {parts.body_line}: there is no text")
    others = sorted(key for key in front.model_fields_set - _OWN if getattr(front, key) != _unsaid(key))
    if others:
        raise TemplateError(f"{file}: writes goes with none of {', '.join(others)}: nothing is rated")
    compiled = None
    if system is None and front.system:
        compiled = compile_template(front.system, file=file, first_line=parts.system_line, offered=OFFERED)
    elif system:
        compiled = compile_template(system, file=Path("system message"), offered=OFFERED)
    body = compile_template(parts.body, file=file, first_line=parts.body_line, offered=OFFERED)
    return WriterPrompt(file.stem, source, front.description, body, compiled)


def shipped_writer_prompts() -> tuple[str, ...]:
    return tuple(sorted(file.stem for file in (shipped("prompts") / "writer_prompts").glob(f"*{SUFFIX}")))


def _unsaid(key: str) -> Any:
    return FrontMatter.model_fields[key].get_default()
