"""Removes stories that a trained judge saw in training from that judge's ratings, with a note."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judge.backends.trained.model import marks_of
from judge.base.errors import RunFolderError
from judge.ratings.ratings_table.table import StoryRow


def trained_on(manifest: Mapping[str, Any], stories: Mapping[str, StoryRow], folder: Path) -> frozenset[str]:
    """Ids of the stories that the judge was trained on, or whose story-prompts were in its training data.

    Story-prompts and texts are compared with the short hashes that the manifest recorded from the model. Empty for a
    judge without such hashes. Raises RunFolderError where no story is left.
    """
    server = manifest.get("in_force", {}).get("server") or {}
    marks = frozenset(str(server.get("trained_on") or "").split())
    if not marks:
        return frozenset()
    gone = frozenset(
        row.story for row in stories.values() if any(mark in marks for mark in marks_of(row.story_prompt, row.text))
    )
    if gone and len(gone) == len(stories):
        raise RunFolderError(
            f"{folder}: {manifest.get('judge')} was trained on the story-prompts of all {len(stories)} stories, and "
            "nothing is left to say about it",
            hint="let it judge other stories; its card.json has its accuracy out of fold",
        )
    return gone


def about(judge: str, gone: frozenset[str], stories: Mapping[str, StoryRow]) -> list[str]:
    """A note on how many stories were left out because the judge was trained on their story-prompts; [] if none was."""
    if not gone:
        return []
    where = f"{judge} was trained on the story-prompts of {len(gone)} of these {len(stories)} stories"
    return [f"{where}: its rows about these are left out"]
