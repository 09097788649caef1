"""Cache of computed embeddings by model and text, in one SQLite file that may be deleted at any time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from judge.base.derived_file import keep, open_cache

_TABLE = """CREATE TABLE IF NOT EXISTS vectors (model TEXT, text TEXT, vector BLOB, PRIMARY KEY (model, text))
WITHOUT ROWID"""
_PAGE = 500
"""SQLite before 3.32 binds 999 values in one statement at most."""


class Cache:
    """Cache of texts' embeddings (float32 vectors) by (model key, text key). With `None` as path they are kept in
    memory only.
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

    def keys(self, model: str) -> set[str]:
        """Keys of the texts for which a model's vector is cached."""
        return {row[0] for row in self._base.execute("SELECT text FROM vectors WHERE model = ?", (model,))}

    def put(self, model: str, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Store one vector for each text key. They are on disk when the call returns."""
        rows = [(model, key, vector.astype("<f4").tobytes()) for key, vector in zip(texts, vectors, strict=True)]
        keep(self._base, self.path, "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)

    def get(self, model: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Cached vectors in the order of the text keys, shape (texts, dimensions). All texts must be in the cache."""
        table: NDArray[np.float32] | None = None
        row_of = {key: row for row, key in enumerate(texts)}
        for start in range(0, len(texts), _PAGE):
            some = texts[start : start + _PAGE]
            sql = f"SELECT text, vector FROM vectors WHERE model = ? AND text IN ({','.join('?' * len(some))})"  # noqa: S608
            for key, body in self._base.execute(sql, (model, *some)):
                vector = np.frombuffer(body, dtype="<f4")
                if table is None:
                    table = np.empty((len(texts), vector.size), np.float32)
                table[row_of[key]] = vector
        return np.empty((0, 0), np.float32) if table is None else table
