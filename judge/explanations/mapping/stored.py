"""Results of `judge explain` in `derived/explanations.json` of a result folder: points, clusters and tables. Each
`judge explain` overwrites it. Pages take texts from the journal; the stored tables contain only short examples."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import orjson
import pandas as pd

from judge.asking.run_folder import ResultFolder
from judge.base.errors import DataError, RunFolderError, SpecError
from judge.base.printing import output
from judge.base.printing.tables import Table
from judge.base.whole_file import write_whole
from judge.explanations.mapping.explanation_map import ExplanationMap

FILE = "explanations.json"
FORMAT = 2
# The form whose tables had no titles of columns: its points are read, its tables are not.
_WITHOUT_COLUMNS = 1

# Keys of a point. `repeat`, `rating` and `cluster` may be null (not known, none, no clusters); cluster -1 is noise;
# `x` and `y` are null without a map.
POINT = ("judge", "story", "system", "criterion", "eval_prompt", "repeat", "rating", "cluster", "x", "y")

# More digits would only lengthen the file: coordinates are for pictures, and ratings have fewer.
_DIGITS = 4
_TFIDF = re.compile(r"tfidf-svd(\d+)/seed(\d+)")


@dataclass(frozen=True, slots=True)
class StoredMap:
    """Stored results for one result folder's explanations; `signature` is that of the whole analysis. `method` is the
    map's ("" without one). `points` have the keys `POINT`, and `tables` the form of `stored_tables.plain`. `keywords`
    maps a cluster ("0", "1"...) to its keywords, best first."""

    signature: str
    model: str
    method: str
    points: list[dict[str, Any]]
    tables: list[dict[str, Any]]
    keywords: dict[str, list[str]]
    notes: list[str] = field(default_factory=list)

    @property
    def embedded_by(self) -> str:
        """The embedding model's name, or a description in words for TF-IDF."""
        code = _TFIDF.fullmatch(self.model)
        if code is None:
            return self.model
        dimensions, seed = code.groups()
        return f"TF-IDF of words and word pairs, reduced to {dimensions} dimensions by truncated SVD (seed {seed})"


def read(folder: ResultFolder) -> StoredMap | None:
    """The stored results of `judge explain`; None where there are none. Raises DataError where the file is damaged or
    has an unknown format. The tables of a file in the first format are left out, and a note says so."""
    path = folder.derived / FILE
    if not path.is_file():
        return None
    hint = "make it again: judge explain RUN"
    try:
        content = orjson.loads(path.read_bytes())
        if content["format"] == _WITHOUT_COLUMNS:
            again = "the tables were stored by an earlier version of this program: judge explain makes them again"
            content |= {"tables": [], "notes": [*content["notes"], again]}
        elif content["format"] != FORMAT:
            raise DataError("is of another version of this program", file=path, found=content["format"], hint=hint)
        columns = content.pop("points")
        points = [dict(zip(POINT, values, strict=True)) for values in zip(*(columns[k] for k in POINT), strict=True)]
        return StoredMap(points=points, **{key: content[key] for key in _KEPT})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"cannot be read: {error}", file=path, hint=hint) from error


_KEPT = ("signature", "model", "method", "tables", "keywords", "notes")


def write(folder: ResultFolder, stored: StoredMap) -> None:
    """Store results, replacing earlier ones. Raises RunFolderError where the folder cannot be written."""
    content = {"format": FORMAT, **{key: value for key, value in asdict(stored).items() if key in _KEPT}}
    # By column: a quarter of the size of a list of records.
    content["points"] = {key: [point[key] for point in stored.points] for key in POINT}
    path = folder.derived / FILE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, orjson.dumps(content, option=orjson.OPT_SERIALIZE_NUMPY), follow=False)
    except OSError as error:
        raise RunFolderError(f"{path} cannot be written: {error.strerror}") from error


def of_folders(
    mapped: ExplanationMap, tables: Sequence[Table], keywords: Mapping[int, Sequence[str]]
) -> list[tuple[ResultFolder, StoredMap]]:
    """Results to store for each result folder: its own points; tables and keywords of the whole analysis."""
    printed = [output.plain(table, texts=False) for table in tables]
    words = {str(number): list(some) for number, some in keywords.items()}
    parts = (mapped.picture, mapped.clustering)
    notes = [mapped.embedded.note, *(part.note for part in parts if part is not None)]
    method = "" if mapped.picture is None else mapped.picture.method
    maps = []
    for fact in mapped.texts.facts:
        own = mapped.rows[(mapped.rows["run"] == fact.run) & mapped.rows["judge"].isin(fact.judge.split(", "))]
        stored = StoredMap(mapped.signature(), mapped.embedded.name, method, points(own), printed, words, list(notes))
        maps.append((ResultFolder(fact.path), stored))
    return maps


def of_analysis(mapped: ExplanationMap, keywords: Mapping[int, Sequence[str]]) -> StoredMap:
    """All points of an analysis with the side that wrote each text. Raises SpecError where there is no map."""
    if mapped.picture is None:
        raise SpecError("there is no map: none was requested, or there are too few texts")
    words = {str(number): list(some) for number, some in keywords.items()}
    sides = mapped.rows["side"].tolist()
    marked = [point | {"side": side or None} for point, side in zip(points(mapped.rows), sides, strict=True)]
    whole = StoredMap(mapped.signature(), mapped.embedded.name, mapped.picture.method, marked, [], words)
    return replace(whole, model=whole.embedded_by)


def points(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """One dict with the keys `POINT` for each analysed explanation. Unknown numbers are None."""
    return [_point(row) for row in rows[list(POINT)].to_dict("records")]


def _point(row: Mapping[Any, Any]) -> dict[str, Any]:
    cells: dict[str, Any] = {key: str(row[key]) for key in POINT[:5]}
    cells |= {key: None if pd.isna(row[key]) else int(row[key]) for key in ("repeat", "cluster")}
    cells |= {key: None if pd.isna(row[key]) else round(float(row[key]), _DIGITS) for key in ("rating", "x", "y")}
    return {key: cells[key] for key in POINT}
