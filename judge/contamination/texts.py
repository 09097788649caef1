"""Texts to score: stories of a dataset, or a labelled set of seen and unseen texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from judge.base.errors import DataError, OptionError
from judge.base.fingerprint import fingerprint_text
from judge.base.wording import Advice
from judge.inputs.datasets import open_dataset

# Names of the text's column: WikiMIA's, BookMIA's, and the plain one.
TEXT_KEYS = ("input", "snippet", "text")

GROUP_KEYS = ("book", "book_id")


@dataclass(frozen=True, slots=True)
class Text:
    """One text; `label`: the model has seen it in training (None = unknown); `group` is its book. `key` is the hash of
    the complete text in the file, even if `text` was cut; it joins scores with stories."""

    id: str
    text: str
    key: str
    system: str | None = None
    label: bool | None = None
    group: str | None = None


@dataclass(frozen=True, slots=True)
class TextSet:
    """Texts of a dataset or file; `notes` tell of texts that were changed or left out."""

    name: str
    texts: tuple[Text, ...]
    notes: tuple[str, ...] = ()


def of_dataset(name: str, *, columns: Mapping[str, Any] | None = None, limit: int | None = None) -> TextSet:
    """Stories of a dataset, by name or path as in `judge data list`; a JSON Lines file with labels is a labelled set.
    `columns` maps a table's columns. `limit` counts from the first; None = all."""
    path = Path(name)
    if columns is None and path.is_file() and path.suffix.lower() in (".jsonl", ".ndjson") and _is_labelled(path):
        return labelled(path, limit=limit)
    dataset = open_dataset(name, columns=columns)
    texts: list[Text] = []
    for story in dataset.stories():
        if limit is not None and len(texts) >= limit:
            break
        texts.append(Text(story.id, story.text, fingerprint_text(story.text), story.system))
    return TextSet(dataset.name, tuple(texts))


def labelled(path: Path, *, limit: int | None = None) -> TextSet:
    """A labelled set: JSON Lines with `label` (1 = seen, 0 = not) and the text under `input`, `snippet` or `text`.
    These are the formats of WikiMIA (`input, label`) and BookMIA (`snippet, label, book`), whose NUL characters are
    kept and counted in a note. `limit` None = all. Raises DataError, naming file and row."""
    texts: list[Text] = []
    damaged = 0
    for number, row in _rows(path):
        if limit is not None and len(texts) >= limit:
            break
        key = next((k for k in TEXT_KEYS if k in row), None)
        if key is None:
            raise DataError("no text", file=path, row=number, found=list(row), allowed=f"one of {', '.join(TEXT_KEYS)}")
        if "label" not in row:
            raise DataError("no label", file=path, row=number, found=list(row), allowed="label: 1 = seen, 0 = not seen")
        label, text = row["label"], row[key]
        if isinstance(label, bool) or label not in (0, 1):
            allowed = "1 (seen) or 0 (not seen)"
            raise DataError("not a label", file=path, row=number, column="label", found=label, allowed=allowed)
        if not isinstance(text, str) or not text.strip():
            raise DataError("the text is empty", file=path, row=number, column=key)
        group = next((str(row[k]) for k in GROUP_KEYS if row.get(k) is not None), None)
        damaged += "\0" in text
        name = str(row.get("id", number))
        texts.append(Text(name, text, fingerprint_text(text), label=bool(label), group=group))
    if not texts:
        raise DataError("no texts", file=path)
    notes = [f"{damaged} texts hold NUL characters, scored as they are"] if damaged else []
    return TextSet(path.stem, tuple(texts), tuple(notes))


def first_words(texts: TextSet, words: int) -> TextSet:
    """The texts cut to their first `words` whitespace-separated words; shorter ones are left out, with a note.
    `process_data.py` of the reference implementation does the same, because scores of texts of unequal length are hard
    to compare."""
    if words < 1:
        raise OptionError("words", words, "must be 1 or more")
    kept = []
    for text in texts.texts:
        parts = text.text.split()
        if len(parts) >= words:
            kept.append(replace(text, text=" ".join(parts[:words])))
    lost = len(texts.texts) - len(kept)
    notes = (*texts.notes, f"{lost} of {len(texts.texts)} texts have fewer than {words} words and are left out")
    if not kept:
        raise DataError(f"no text of {texts.name} has {words} words", hint=Advice("lower {words}"))
    return TextSet(texts.name, tuple(kept), notes if lost else texts.notes)


def plain_texts(path: Path, shots: int) -> list[str]:
    """The first `shots` unseen texts of a file: one a line, or JSON Lines as in `labelled`, without seen rows."""
    if not path.is_file():
        raise DataError("there is no such file", file=path)
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        rows = [row for _, row in _rows(path) if row.get("label", 0) == 0]
        bodies = [str(row[key]) for row in rows for key in TEXT_KEYS if isinstance(row.get(key), str)]
    else:
        bodies = [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    if len(bodies) < shots:
        raise DataError(Advice("{} texts not seen, and {shots} asks for {}", len(bodies), shots), file=path)
    return bodies[:shots]


def _is_labelled(path: Path) -> bool:
    first = next(iter(_rows(path)), None)
    return first is not None and "label" in first[1]


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    if not path.is_file():
        raise DataError("there is no such file", file=path)
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            try:
                row = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                raise DataError(f"not a line of JSON: {error}", file=path, row=number) from error
            if not isinstance(row, dict):
                raise DataError("not a JSON object", file=path, row=number)
            yield number, row
