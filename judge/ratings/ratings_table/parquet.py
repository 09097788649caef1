"""Reads imported ratings from a Parquet file with DuckDB.

Repeated names become integer codes, so that millions of rows fit in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judge.base.errors import DataError, MissingExtraError
from judge.ratings.ratings_table.columns import categories, ordered, width
from judge.ratings.ratings_table.table import COLUMNS

_MEMORY = "400MB"
"""What DuckDB may use itself; the rows it hands over take about 30 bytes each beside that."""

_VECTORS = 200
"""Vectors of 2,048 rows that are handed over at a time."""

_NUMBERS = {"rating": ("DOUBLE", np.dtype(np.float64)), "repeat": ("SMALLINT", np.dtype(np.float32))}
_TEXT = "explanation"


def read_parquet(file: Path, *, explanations: bool) -> pd.DataFrame:
    """Read a Parquet file of ratings as a data frame in which names are categorical and ratings are floats.

    Without `explanations` the column of explanations is null. Raises DataError for missing columns or a file that is
    not Parquet, and MissingExtraError without DuckDB.
    """
    try:
        import duckdb
    except ImportError as error:
        raise MissingExtraError(f"reading {file.name}", "data") from error
    with duckdb.connect(config={"memory_limit": _MEMORY}) as db:
        db.execute("SET enable_progress_bar = false")
        try:
            # A view has a fixed text, so that no part of a path is ever part of a statement.
            db.from_parquet(str(file)).create_view("ratings")
            columns = {row[0] for row in db.execute("DESCRIBE ratings").fetchall()}
            missing = [column for column in COLUMNS if column not in columns]
            if missing:
                raise DataError("columns are missing", file=file, found=missing, allowed=", ".join(COLUMNS))
            return _rows(db, ordered(columns), explanations=explanations)
        except duckdb.Error as error:
            raise DataError(f"cannot be read as Parquet ({str(error).splitlines()[0]})", file=file) from error


def _rows(db: Any, wanted: Sequence[str], *, explanations: bool) -> pd.DataFrame:
    """All rows of the wanted columns.

    They are fetched in chunks into arrays of the final size, because fetching everything at once needs four times the
    memory.
    """
    total = int(db.execute("SELECT count(*) FROM ratings").fetchone()[0])
    levels = {column: _levels(db, column) for column in wanted if column not in (*_NUMBERS, _TEXT)}
    parts = [f"{column}::VARCHAR::{column}_name AS {column}" for column in levels]
    parts += [f"{column}::{kind} AS {column}" for column, (kind, _) in _NUMBERS.items()]
    parts += [_TEXT] if explanations else []
    arrays: dict[str, Any] = {
        name: np.empty(total, dtype=width(len(level_names))) for name, level_names in levels.items()
    }
    arrays |= {name: np.empty(total, dtype=dtype) for name, (_, dtype) in _NUMBERS.items()}
    texts: list[pd.Series[str]] = []
    done = 0
    result = db.execute(f"SELECT {', '.join(parts)} FROM ratings")  # noqa: S608  the names are our own
    while len(piece := result.fetch_df_chunk(_VECTORS)):
        rows = slice(done, done + len(piece))
        for name in levels:
            arrays[name][rows] = piece[name].cat.codes.to_numpy()
        for name in _NUMBERS:
            arrays[name][rows] = piece[name].to_numpy(dtype=np.float64, na_value=np.nan)
        texts += [piece[_TEXT]] if explanations else []
        done += len(piece)
    columns: dict[str, Any] = {name: categories(arrays[name], level_names) for name, level_names in levels.items()}
    columns |= {name: arrays[name] for name in _NUMBERS}
    blank = categories(np.full(total, -1, dtype=np.int8), [])
    columns[_TEXT] = pd.concat(texts, ignore_index=True) if texts else blank
    return pd.DataFrame({name: columns[name] for name in wanted}, copy=False)


def _levels(db: Any, column: str) -> list[str]:
    """Sorted distinct names in a column. Also defines them in DuckDB as an enumeration type for the column."""
    names = f"SELECT DISTINCT {column}::VARCHAR AS name FROM ratings WHERE {column} IS NOT NULL ORDER BY name"  # noqa: S608
    db.execute(f"CREATE TYPE {column}_name AS ENUM ({names})")
    return [str(name) for (name,) in db.execute(names).fetchall()]
