"""A small dataset of stories for three story-prompts and two systems, with ratings, references and placeholders."""

from __future__ import annotations

from pathlib import Path

from judge.base.records import Rating, Story
from judge.inputs.datasets.files.native import write_stories

_LAMP = (
    "[FEMALE] loved the old lamp . it fell down and broke into small pieces . she was n't pleased at all . her "
    "mother bought an expensive one ."
)
_PORCH = (
    "He sat on the porch. Nobody came to see him, and it was getting dark. Then a man walked by. “Is it late?” he "
    "asked, because he had lost his watch."
)
_DOG = "We found a dog under the bridge yesterday. It was hungry! We gave it bread. It's ours now."
TEXTS = (_LAMP, _PORCH, _DOG)


def stories() -> list[Story]:
    """Six, two a story-prompt."""
    return [
        Story(
            f"{at}-{system}",
            f"Story-prompt number {at}.",
            system,
            text if system == "a" else f"{text} The end came soon after that day.",
            TEXTS[(at + 1) % 3],
            (Rating("Overall", 1 + at, "ann"), Rating("Overall", 2 + at, "bob")),
        )
        for at, text in enumerate(TEXTS)
        for system in ("a", "b")
    ]


def dataset(folder: Path) -> Path:
    """The stories as a native file."""
    path = folder / "small.jsonl"
    write_stories(path, stories())
    return path
