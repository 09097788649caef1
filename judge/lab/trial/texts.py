"""Stories for a trial, read from text files up to a maximum length."""

from __future__ import annotations

from pathlib import Path

from judge.base.errors import DataError
from judge.base.records import Story

# Longer than any novel: what is larger is no story's text, and would fill the memory of templates and judges.
MOST_BYTES = 4_000_000


def read_story(file: Path, story_prompt: str = "", reference: str | None = None, id_: str | None = None) -> Story:
    """A UTF-8 file as a story; `id_` None = the file's name. Raises DataError where it cannot be read, is not UTF-8 or
    is too large for a story."""
    return Story(id_ or file.name, story_prompt, "unknown", read_text(file), reference)


def read_text(file: Path) -> str:
    """Raises DataError where it cannot be read, is not UTF-8 or is too large for a story."""
    try:
        with file.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", file=file) from error
    if len(data) > MOST_BYTES:
        raise DataError(f"longer than {MOST_BYTES:,} bytes, which no story is", file=file)
    try:
        return data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 (byte {error.start})", file=file) from error
