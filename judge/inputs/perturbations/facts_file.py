"""The facts file beside perturbed stories: how each of them was changed."""

from __future__ import annotations

from pathlib import Path

import orjson

from judge.inputs.perturbations.perturbation import Edit

# Bytes beyond which a file of facts is not searched while somebody waits.
_MOST = 64 << 20


def facts_path(stories: Path) -> Path:
    return stories.with_suffix(".facts.jsonl")


def edits_of(file: Path, story: str) -> tuple[Edit, ...] | None:
    """The edits of a perturbed story in the facts file; None where it lacks them or cannot be read. The file may be
    untrusted, so the caller must check that the edits turn the original text into the perturbed one."""
    wanted = orjson.dumps(story)
    try:
        if not file.is_file() or file.stat().st_size > _MOST:
            return None
        with file.open("rb") as lines:
            match = next((line for line in lines if wanted in line and orjson.loads(line).get("story") == story), None)
        if match is None:
            return None
        return tuple(Edit(int(start), int(end), str(text)) for start, end, text in orjson.loads(match)["edits"])
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
