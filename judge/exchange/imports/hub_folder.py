"""Reader of a dataset folder that `judge export` wrote as a hub, as the content of result folders. Other folders are
refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import pandas as pd

from judge.base.errors import DataError, MissingExtraError
from judge.base.foreign import json_file, reading
from judge.base.records import Criterion
from judge.exchange.imports.imported_folder import Import
from judge.exchange.outputs.hub import CONTENTS, FORMAT
from judge.ratings.ratings_table import COLUMNS


def read_hub(folder: Path) -> Iterator[tuple[str, Import]]:
    """Result folders that `judge export` wrote to a dataset folder. Yields, for each of them, (name, content of the
    new result folder).

    Raises DataError where `folder` is not such an export or files are missing, and MissingExtraError without pyarrow.
    """
    for part in _parts(folder / CONTENTS):
        with reading(folder / CONTENTS, "what an export holds"):
            read = _read_part(folder, part)
        yield read


def _read_part(folder: Path, part: dict[str, Any]) -> tuple[str, Import]:
    name = str(part.get("part", ""))
    if PurePosixPath(name).name != name or not name:
        raise DataError("a part must be a plain name", file=folder / CONTENTS, found=name)
    path = folder / "data" / "ratings" / f"{name}.parquet"
    frame = _table(path)
    missing = [column for column in COLUMNS if column not in frame.columns]
    if missing:
        raise DataError("columns are missing", file=path, found=missing, allowed=", ".join(COLUMNS))
    frame["repeat"] = frame["repeat"].astype("Int64")
    stories = _table(folder / "data" / "stories" / f"{name}.parquet").drop(columns=["story_prompt", "system"])
    return (
        name,
        Import(
            frame=frame,
            judge=str(part["judge"]),
            criteria=[Criterion.of(record) for record in part.get("criteria", ())],
            notes=[str(note) for note in part.get("notes", ())],
            sources=[path],
            stories=stories if len(stories) else None,
            ratings=_one_of(part.get("ratings")),
            labels_note=_text_or_none(part, "labels_note"),
            given=_text_or_none(part, "given"),
        ),
    )


def _one_of(ratings: Any) -> Literal["single", "means"] | None:
    if ratings not in (None, "single", "means"):
        raise ValueError("ratings are single or means")
    return ratings  # type: ignore[no-any-return]


def _text_or_none(part: dict[str, Any], key: str) -> str | None:
    value = part.get(key)
    if not isinstance(value, str | None):
        raise TypeError(f"{key} is no text")
    return value


def _parts(path: Path) -> list[dict[str, Any]]:
    hint = "judge export RUN --as hub -o FOLDER writes one; a single table: judge check FILE, judge import FILE"
    try:
        contents = json_file(path, what="export", hint=hint)
        if contents["format"] != FORMAT:
            raise ValueError(f"format {contents['format']}, this program reads {FORMAT}")
        return list(contents["parts"])
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"is not what an export holds ({error})", file=path) from error


def _table(path: Path) -> pd.DataFrame:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingExtraError("a Hugging Face dataset folder", "data") from error
    try:
        return pd.DataFrame(pq.read_table(path).to_pandas())
    except (OSError, pa.ArrowException) as error:
        raise DataError("cannot be read as Parquet", file=path) from error
