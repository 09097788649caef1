"""Results of `judge explain` as pages and figures take them: `derived/explanations.json` of each result folder.

Each `judge explain` overwrites the file. Pages take texts from the journal; stored tables have only short examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import orjson
import pandas as pd

from judge.asking.run_folder import ResultFolder
from judge.base.errors import DataError, RunFolderError, SpecError
from judge.base.files import write_whole, writing
from judge.base.late_pattern import late
from judge.base.printing import output
from judge.base.printing.tables import Table
from judge.ratings.ratings_table import RunFacts

FILE = "explanations.json"
CLUSTERS, TOPICS = "clusters", "topics"
FORMAT = 3
# The form whose tables had no titles of columns: its points are read, its tables are not.
_WITHOUT_COLUMNS = 1
# The form without people's ratings: they are not known of its points.
_WITHOUT_PEOPLE = 2

# Keys of a point. `repeat`, `rating`, `people` (the mean of people's ratings of the story) and `cluster` (the topic, in
# the layout topics) may be null (not known, none, no clusters); cluster -1 is noise, or no topic;
# `x` and `y` are null without a map.
POINT = ("judge", "story", "system", "criterion", "eval_prompt", "repeat", "rating", "people", "cluster", "x", "y")

# More digits would only lengthen the file: coordinates are for pictures, and ratings have fewer.
_DIGITS = 4
_TFIDF = late(r"tfidf-svd(\d+)/seed(\d+)")


@dataclass(frozen=True, slots=True)
class StoredMap:
    """Stored results for one result folder's explanations; `signature` is that of the whole analysis. `method` is the
    map's ("" without one). `points` have the keys `POINT`, and `tables` the form of `output.plain`. `keywords`
    maps a cluster ("0", "1"...) to its keywords, best first. `of` says what clusters are: `CLUSTERS` of whole texts, or
    `TOPICS` of reasons."""

    signature: str
    model: str
    method: str
    points: list[dict[str, Any]]
    tables: list[dict[str, Any]]
    keywords: dict[str, list[str]]
    notes: list[str] = field(default_factory=list)
    of: str = CLUSTERS

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
        elif content["format"] not in (FORMAT, _WITHOUT_PEOPLE):
            raise DataError("is of another version of this program", file=path, found=content["format"], hint=hint)
        columns = content.pop("points")
        content.setdefault("of", CLUSTERS)
        columns.setdefault("people", [None] * len(columns["story"]))
        points = [dict(zip(POINT, values, strict=True)) for values in zip(*(columns[k] for k in POINT), strict=True)]
        return StoredMap(points=points, **{key: content[key] for key in _KEPT})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"cannot be read: {error}", file=path, hint=hint) from error


_KEPT = ("signature", "model", "method", "tables", "keywords", "notes", "of")


def write(folder: ResultFolder, stored: StoredMap) -> None:
    """Store results, replacing earlier ones. Raises RunFolderError where the folder cannot be written."""
    content = {"format": FORMAT, **{key: value for key, value in asdict(stored).items() if key in _KEPT}}
    # By column: a quarter of the size of a list of records.
    content["points"] = {key: [point[key] for point in stored.points] for key in POINT}
    path = folder.derived / FILE
    with writing(path, RunFolderError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, orjson.dumps(content, option=orjson.OPT_SERIALIZE_NUMPY), follow=False)


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """An analysis to store and to draw: `rows` have `run`, `side` and the keys `POINT`; the rest is as of `StoredMap`.
    `facts` are of the runs whose folders keep it."""

    signature: str
    model: str
    method: str
    rows: pd.DataFrame
    keywords: Mapping[int, Sequence[str]]
    notes: Sequence[str]
    of: str
    facts: Sequence[RunFacts]

    def of_folders(self, tables: Sequence[Table]) -> list[tuple[ResultFolder, StoredMap]]:
        """What each result folder keeps: its own points; tables and keywords of the whole analysis."""
        printed = [output.plain(table, texts=False) for table in tables]
        kept = []
        for fact in self.facts:
            own = self.rows[(self.rows["run"] == fact.run) & self.rows["judge"].isin(fact.judge.split(", "))]
            kept.append((ResultFolder(fact.path), replace(self._whole, points=points(own), tables=printed)))
        return kept

    def of_analysis(self) -> StoredMap:
        """All drawn points, with the side that wrote each text. Raises SpecError where there is no map."""
        drawn = self.rows[self.rows["x"].notna()]
        if drawn.empty:
            raise SpecError("there is no map: none was requested, or there are too few texts")
        sides = drawn["side"].tolist()
        marked = [point | {"side": side or None} for point, side in zip(points(drawn), sides, strict=True)]
        return replace(self._whole, model=self._whole.embedded_by, points=marked, notes=[])

    @property
    def _whole(self) -> StoredMap:
        words = {str(number): list(some) for number, some in self.keywords.items()}
        return StoredMap(self.signature, self.model, self.method, [], [], words, list(self.notes), self.of)


def points(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """One dict with the keys `POINT` for each analysed explanation. Unknown numbers are None."""
    found = []
    for row in rows[list(POINT)].to_dict("records"):
        cells: dict[str, Any] = {key: str(row[key]) for key in POINT[:5]}
        cells |= {key: None if pd.isna(row[key]) else int(row[key]) for key in ("repeat", "cluster")}
        cells |= {
            key: None if pd.isna(row[key]) else round(float(row[key]), _DIGITS)
            for key in ("rating", "people", "x", "y")
        }
        found.append({key: cells[key] for key in POINT})
    return found
