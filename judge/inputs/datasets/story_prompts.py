"""Story-prompts for which models write. A dataset's are taken once, in order of first appearance, with a human story if
there is one. A file is JSON Lines without texts: `story_prompt` and optionally `id` and `reference`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from judge.base.errors import DataError
from judge.base.fingerprint import fingerprint, fingerprint_file
from judge.base.records import Story, StoryPrompt
from judge.inputs.datasets import open_dataset
from judge.inputs.datasets.files.source_file import json_lines, text_value

_KEYS = frozenset({"id", "story_prompt", "reference"})
HUMAN = "Human"


@dataclass(frozen=True, slots=True)
class StoryPrompts:
    """Source of story-prompts; `read` starts a new pass over them."""

    name: str
    read: Callable[[], Iterator[StoryPrompt]]
    fingerprint: Callable[[], str]

    def stories(self) -> Iterator[Story]:
        """The story-prompts as a journal stores them: `Story` records with an empty text."""
        return (Story(prompt.id, prompt.text, "", "", prompt.reference) for prompt in self.read())


def open_story_prompts(name_or_path: str, columns: Mapping[str, Any] | None = None) -> StoryPrompts:
    """The story-prompts of a dataset given by name, of a file of stories, or of a file of story-prompts."""
    path = Path(name_or_path)
    if path.suffix.lower() in (".jsonl", ".ndjson") and path.is_file() and _is_bare(path):
        return StoryPrompts(
            path.stem, partial(_listed, path), lambda: fingerprint({"story_prompts": fingerprint_file(path)})
        )
    dataset = open_dataset(name_or_path, columns=columns)

    def read() -> Iterator[StoryPrompt]:
        first: dict[str, str | None] = {}
        for story in dataset.stories():
            human = story.text if story.system == HUMAN else story.reference
            if story.story_prompt.strip():
                first[story.story_prompt] = first.get(story.story_prompt) or human
        if not first:
            raise DataError(f"no story of {dataset.name} names its story-prompt", file=name_or_path)
        for index, (text, reference) in enumerate(first.items()):
            yield StoryPrompt(f"p{index}", text, reference)

    return StoryPrompts(dataset.name, read, dataset.fingerprint)


def _is_bare(path: Path) -> bool:
    # A line that cannot be read raises its error when the whole file is read.
    try:
        _, value = next(json_lines(path), (0, None))
    except DataError:
        return False
    return isinstance(value, dict) and "story_prompt" in value and "text" not in value


def _listed(path: Path) -> Iterator[StoryPrompt]:
    seen: dict[str, int] = {}
    for index, (row, value) in enumerate(json_lines(path)):
        if not isinstance(value, dict) or not value.keys() <= _KEYS or "story_prompt" not in value:
            content = sorted(value) if isinstance(value, dict) else value
            raise DataError(
                "not a story-prompt", file=path, row=row, found=content, allowed="story_prompt, id, reference"
            )
        text = text_value(value["story_prompt"], path, row, "story_prompt")
        given = text_value(value.get("id", f"p{index}"), path, row, "id")
        reference = value.get("reference")
        if given in seen:
            raise DataError(f"has the id of row {seen[given]}", file=path, row=row, column="id", found=given)
        seen[given] = row
        reference_text = None if reference is None else text_value(reference, path, row, "reference")
        yield StoryPrompt(given, text, reference_text)
