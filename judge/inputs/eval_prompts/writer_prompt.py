"""Loads a writer prompt (a template that requests a story) and renders it to messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judge.base.errors import TemplateError
from judge.base.records import Message, StoryPrompt
from judge.inputs.eval_prompts.sandbox import Compiled, compile_template
from judge.inputs.prompt_file import FrontMatter, locate, read_text, split

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


def _unsaid(key: str) -> Any:
    return FrontMatter.model_fields[key].get_default()
