"""The map of explanations for pages: a small database for lists, and a file of numbers for the picture.
`derived/explanations.json` of a large run would fill the server's memory, so a separate process converts it. Texts are
read from the journal."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from judge.asking.run_folder import ResultFolder
from judge.base.errors import RunFolderError
from judge.base.files import draft, write_whole
from judge.base.fingerprint import fingerprint
from judge.base.sqlite_file import connect, reading
from judge.show.web.view.runs import FORMAT

SOURCE = "explanations.json"
# Points in the picture at most; the list beside it has all.
DRAWN = 20_000

PAGE = 30
# Coordinates as whole numbers keep the picture's file short; no screen has so many pixels.
_GRID = 10_000
_COLUMNS = ("story", "system", "criterion", "eval_prompt", "repeat", "rating", "people", "cluster")

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE points (
    number INTEGER PRIMARY KEY, story TEXT NOT NULL, system TEXT, criterion TEXT NOT NULL, eval_prompt TEXT NOT NULL,
    repeat INTEGER, rating REAL, people REAL, cluster INTEGER, x REAL, y REAL
);
"""


def state_of(folder: ResultFolder) -> str | None:
    """Fingerprint of a folder's stored map, or None."""
    try:
        status = (folder.derived / SOURCE).stat()
    except OSError:
        return None
    return fingerprint([FORMAT, status.st_size, status.st_mtime_ns])[3:19]


def picture_file(file: Path) -> Path:
    """File of numbers for the picture, beside the database `file`."""
    return file.with_suffix(".json")


def convert(folder: ResultFolder, file: Path, state: str) -> None:
    """Convert the stored map with the fingerprint `state`; the files appear only when complete."""
    from judge.explanations.mapping.stored_map import TOPICS, read

    stored_map = read(folder)
    if stored_map is None:
        raise RunFolderError(f"{folder.path} holds no map of explanations", hint="judge explain RUN makes it")
    file.parent.mkdir(parents=True, exist_ok=True)
    with draft(file, follow=False) as fresh, closing(connect(fresh)) as db:
        db.executescript(_TABLES)
        rows = [(i, *(p[k] for k in (*_COLUMNS, "x", "y"))) for i, p in enumerate(stored_map.points)]
        db.executemany("INSERT INTO points VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        facts = {
            "state": state,
            "signature": stored_map.signature,
            "model": stored_map.embedded_by,
            "method": stored_map.method,
            "keywords": stored_map.keywords,
            "topics": stored_map.of == TOPICS,
            "notes": list(getattr(stored_map, "notes", ())),
            "total": len(rows),
        }
        db.executemany("INSERT INTO meta VALUES (?, ?)", [(k, orjson.dumps(v).decode()) for k, v in facts.items()])
        db.commit()
        write_whole(picture_file(file), orjson.dumps(_picture(stored_map.points)), follow=False)


def _picture(points: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """By column; names are numbers, and of more than `DRAWN` points a random sample is taken."""
    drawn = [i for i, point in enumerate(points) if point["x"] is not None and point["y"] is not None]
    total = len(drawn)
    if total > DRAWN:
        # With a fixed seed a map that is computed again shows the same points.
        drawn = sorted(random.Random(1).sample(drawn, DRAWN))
    xs, ys = [points[i]["x"] for i in drawn], [points[i]["y"] for i in drawn]
    # One scale for both axes: only nearness means something.
    wide = max((max(v) - min(v) for v in (xs, ys) if v), default=1) or 1
    names = {key: sorted({str(points[i][key]) for i in drawn}) for key in ("criterion", "eval_prompt", "system")}
    places = {key: {name: n for n, name in enumerate(values)} for key, values in names.items()}
    return {
        "total": total,
        "number": drawn,
        "x": [round((x - min(xs)) / wide * _GRID) for x in xs],
        "y": [round((y - min(ys)) / wide * _GRID) for y in ys],
        "names": names,
        **{key: [places[key][str(points[i][key])] for i in drawn] for key in names},
        "cluster": [points[i]["cluster"] for i in drawn],
        "rating": [points[i]["rating"] for i in drawn],
        "people": [points[i]["people"] for i in drawn],
    }


@dataclass(frozen=True, slots=True)
class MapFilters:
    """Filters of points; "" does not filter, and `cluster` "none" is the points in no cluster."""

    criterion: str = ""
    eval_prompt: str = ""
    system: str = ""
    cluster: str = ""
    rating: str = ""

    def words(self) -> dict[str, str]:
        """The set filters as parameters of an address."""
        return {key: value for key, value in asdict(self).items() if value}


@dataclass(frozen=True, slots=True)
class Dot:
    """The point of one explanation; None where a value is not known."""

    number: int
    story: str
    system: str | None
    criterion: str
    eval_prompt: str
    repeat: int | None
    rating: float | None
    people: float | None
    cluster: int | None


def _where(filters: MapFilters) -> tuple[list[str], list[Any]]:
    """Conditions of SQL that the filters set, and their values."""
    where: list[str] = []
    values: list[Any] = []
    for key in ("criterion", "eval_prompt", "system"):
        if name := getattr(filters, key):
            where.append(f"{key} = ?")
            values.append(name)
    if filters.cluster == "none":
        where.append("(cluster IS NULL OR cluster < 0)")
    elif filters.cluster:
        where.append("cluster = ?")
        values.append(int(filters.cluster) if filters.cluster.isdecimal() else -2)
    if filters.rating:
        where.append("rating >= ? - 0.5 AND rating < ? + 0.5")
        values += [filters.rating, filters.rating]
    return where, values


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster, or a topic of reasons: its words, its criterion ("" for several), its number of explanations, and the
    means of their ratings and of people's ratings of the same stories."""

    number: int
    words: list[str]
    criterion: str
    count: int
    rating: float | None
    people: float | None


class Map:
    """One map, opened for reading."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self.facts: dict[str, Any] = {k: orjson.loads(v) for k, v in db.execute("SELECT key, value FROM meta")}

    def page(self, filters: MapFilters, after: int = -1) -> tuple[list[Dot], int | None]:
        """The next points after number `after`, and the last one's number for the next page, None at the end."""
        where, values = _where(filters)
        where, values = ["number > ?", *where], [after, *values]
        sql = (
            f"SELECT number, {', '.join(_COLUMNS)} FROM points WHERE {' AND '.join(where)}"  # noqa: S608  our own words
            " ORDER BY number LIMIT ?"
        )
        dots = [Dot(*row) for row in self._db.execute(sql, (*values, PAGE + 1))]
        return dots[:PAGE], dots[PAGE - 1].number if len(dots) > PAGE else None

    def dot(self, number: int) -> Dot | None:
        """The point with this number, or None."""
        sql = f"SELECT number, {', '.join(_COLUMNS)} FROM points WHERE number = ?"  # noqa: S608  our own words
        row = self._db.execute(sql, (number,)).fetchone()
        return None if row is None else Dot(*row)

    def clusters(self, filters: MapFilters) -> list[Cluster]:
        """The clusters (topics) of the points that pass the filters but that on the cluster, by number."""
        where, values = _where(replace(filters, cluster=""))
        sql = (
            "SELECT cluster, min(criterion), count(*), avg(rating), avg(CASE WHEN rating IS NULL THEN NULL ELSE people "  # noqa: S608
            f"END), count(DISTINCT criterion) FROM points WHERE {' AND '.join(['cluster >= 0', *where])} "
            "GROUP BY cluster ORDER BY cluster"
        )
        words = self.facts["keywords"]
        return [
            Cluster(number, list(words.get(str(number), ())), criterion if several == 1 else "", n, rating, people)
            for number, criterion, n, rating, people, several in self._db.execute(sql, values)
        ]

    def ratings(self) -> list[int]:
        """The ratings that there are, to the nearest point, lowest first."""
        sql = "SELECT DISTINCT CAST(round(rating) AS INTEGER) FROM points WHERE rating NOT NULL ORDER BY 1"
        return [point for (point,) in self._db.execute(sql)]


def opened(file: Path) -> AbstractContextManager[Map | None]:
    """Context with the map at `file`; None where there is none yet."""
    return reading(file, Map)
