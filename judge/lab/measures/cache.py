"""Cache of computed measure values in one SQLite file, by recipe (a family of measures with its packages and models)
and by a story's texts. The file may be deleted at any time.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import orjson

from judge.base.derived_file import keep, open_cache
from judge.lab.measures.measure import Scored, Undefined

_TABLE = (
    "CREATE TABLE IF NOT EXISTS measured (recipe TEXT, item TEXT, body BLOB, PRIMARY KEY (recipe, item)) WITHOUT ROWID"
)


class Cache:
    """Cache of measure values by (recipe key, item key). With `None` as path, values are kept in memory only.

    The recipe key identifies a family of measures with its packages and models. The item key identifies the texts of
    one story.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._base = open_cache(path, _TABLE)

    def __enter__(self) -> Cache:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._base.close()

    def get(self, recipe: str) -> dict[str, Scored]:
        """Item key -> cached values, for one recipe (a family of measures with its packages and models). An item key
        identifies the texts of one story.
        """
        rows = self._base.execute("SELECT item, body FROM measured WHERE recipe = ?", (recipe,))
        return {key: _unpacked(body) for key, body in rows}

    def put(self, recipe: str, values: Sequence[tuple[str, Scored]]) -> None:
        """Store the computed values of a recipe (a family of measures with its packages and models), each as (item key,
        values). They are committed when the method returns.
        """
        rows = [(recipe, key, _packed(scored)) for key, scored in values]
        keep(self._base, self.path, "INSERT OR REPLACE INTO measured VALUES (?, ?, ?)", rows)


def _packed(scored: Scored) -> bytes:
    values = {
        key: {"why": value.reason} if isinstance(value, Undefined) else value for key, value in scored.values.items()
    }
    return orjson.dumps([values, scored.cut])


def _unpacked(body: bytes) -> Scored:
    values, cut = orjson.loads(body)
    return Scored(
        {key: Undefined(value["why"]) if isinstance(value, dict) else float(value) for key, value in values.items()},
        cut,
    )
