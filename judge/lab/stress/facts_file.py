"""The facts file `NAME.facts.jsonl` that belongs to a file of perturbed stories: the settings, the edits of each story,
and counts of stories that could not be perturbed.

The first line is `{"stress": {...}}`, the last `{"stories": ..., "left_out": [...]}`. The lines between them are
`{"story": ID, "origin": ID, "perturbation": ..., "test": ..., "strength": ..., "edits": [[start, end, replacement],
...]}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from judge.inputs.perturbations.edit import Edit
from judge.lab.stress.coverage import Coverage
from judge.lab.stress.making import Perturbed

FORM = 1
_MOST = 64 << 20
"""Bytes beyond which a file of facts is not searched while somebody waits."""


def facts_path(stories: Path) -> Path:
    """Path of the facts file that belongs to a file of stories."""
    return stories.with_suffix(".facts.jsonl")


def edits_of(file: Path, story: str) -> tuple[Edit, ...] | None:
    """The edits that produced a perturbed story, as recorded in the facts file; None where the file does not have them
    or cannot be read.

    The file may come from an untrusted source, so the caller must check that the edits turn the original text into the
    perturbed one.
    """
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


def write_head(stream: BinaryIO, made_of: Mapping[str, Any]) -> None:
    """Write the first line of the facts file: the settings under which the stories were perturbed."""
    _line(stream, {"stress": {"form": FORM, **made_of}})


def write_version(stream: BinaryIO, origin: str, version: Perturbed) -> None:
    """Write the line of the facts file about one perturbed story; `origin` is the identifier of the original story.
    Nothing is written where the perturbation did not produce a story.
    """
    if version.story is not None:
        _line(
            stream,
            {
                "story": version.story.id,
                "origin": origin,
                "perturbation": version.facts.name,
                "test": version.facts.test,
                "strength": version.strength,
                "edits": [list(edit) for edit in version.edits],
            },
        )


def write_end(stream: BinaryIO, coverage: Coverage) -> None:
    """Write the last line of the facts file: the number of original stories, the number that each perturbation changed,
    and the reasons why it did not change the others.
    """
    rows = [
        {
            "perturbation": row.perturbation,
            "strength": row.strength,
            "made": row.made_count,
            "reasons": dict(row.reasons.most_common()),
        }
        for row in coverage.rows
    ]
    _line(stream, {"stories": coverage.stories, "left_out": rows})


def _line(stream: BinaryIO, value: Mapping[str, Any]) -> None:
    stream.write(orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE))
