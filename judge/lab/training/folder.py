"""The folder of a trained model, with the files `model.json` and `card.json`. An existing model is not overwritten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from judge.backends.trained.model import FORMAT, MODEL_FILE, Encoder, Head, head_record, marks_of
from judge.base.errors import SpecError
from judge.base.records import Story
from judge.base.whole_file import write_whole

CARD_FILE = "card.json"


def check_free(folder: Path) -> None:
    """Raise SpecError where the folder already holds a trained model, or where the path is a file."""
    if (folder / MODEL_FILE).exists():
        raise SpecError(f"{folder} holds a trained model already", hint="name another folder with -o, or delete it")
    if folder.exists() and not folder.is_dir():
        raise SpecError(f"{folder} is no folder", hint="name another with -o")


def write_model(
    folder: Path,
    heads: Sequence[Head],
    stories: Sequence[Story],
    *,
    embedding: Mapping[str, str] | None,
    encoder: Encoder | None,
    data: Sequence[Mapping[str, Any]],
) -> None:
    """Write `model.json`, which holds the fitted model: its outputs (heads) for each criterion and marks of the stories
    on which it was trained. `embedding` describes the embedding model and `encoder` the encoder, None where there is
    none; `data` are facts about the training datasets. Raises SpecError where the file cannot be written.
    """
    marks = {mark for story in stories for mark in marks_of(story.story_prompt, story.text)}
    content = {
        "format": FORMAT,
        "name": folder.resolve().name,
        "embedding": embedding,
        "data": list(data),
        "trained_on": " ".join(sorted(marks)),
        **({} if encoder is None else {"encoder": asdict(encoder)}),
        "heads": [head_record(head) for head in heads],
    }
    _write(folder / MODEL_FILE, orjson.dumps(content, option=orjson.OPT_APPEND_NEWLINE))


def write_card(folder: Path, card: Mapping[str, Any]) -> None:
    """Write `card.json`, the model card, with training data, method, and out-of-fold results. Raises SpecError where it
    cannot be written.
    """
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    _write(folder / CARD_FILE, orjson.dumps(card, option=options))


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    except OSError as error:
        raise SpecError(f"{path} cannot be written: {error.strerror}") from error
