"""A ratings table from a file of one's own: CSV, JSON Lines or Parquet. Never guesses which column is which.

The columns are the ratings table's. `story`, `criterion` and `rating` are needed; the others may be left out where
there is nothing to say. A row without a rating needs a `status` that says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judge.datasets.source_file import csv_rows, json_lines
from judge.errors import DataError, MissingExtraError, SpecError, unknown
from judge.exchange.imported_folder import Import
from judge.ratings_table import COLUMNS
from judge.records import Criterion

NEEDED = ("story", "criterion", "rating")
SUFFIXES = (".csv", ".jsonl", ".parquet")


def read_ratings(
    path: Path, *, dataset: str | None = None, criteria: Sequence[Criterion] = (), notes: Sequence[str] = ()
) -> Import:
    """The file's rows with every column of the ratings table.

    Parameters
    ----------
    path : Path
    dataset : str, optional
        The dataset's name where the file does not say it; else the file's name.
    criteria : sequence of Criterion
        Gives abbreviations and scales: judges' ratings off a criterion's scale become rows without a rating and with
        status `out_of_scale`. Criteria that are not among them are taken as they are.
    notes : sequence of str
        What shall stand under every table.

    Raises
    ------
    DataError
        Missing or unknown columns, a rating that is no number, no rating and no status.
    """
    frame = _read(path)
    _check_columns(frame, path)
    frame = frame.reindex(columns=list(COLUMNS))
    frame["rating"] = _numbers(frame["rating"], path, "rating")
    frame["repeat"] = _numbers(frame["repeat"], path, "repeat").astype("Int64")
    for column in ("story", "criterion"):
        _refuse(frame[column].isna(), frame[column], path, column, "nothing stands there")
    for column, value in (("run", path.stem), ("dataset", dataset or path.stem), ("source", "judge"), ("system", "-")):
        frame[column] = frame[column].where(frame[column].notna(), value)
    _refuse(~frame["source"].isin(["judge", "rater"]), frame["source"], path, "source", "not judge or rater")
    judged = frame["source"] == "judge"
    frame.loc[judged, "judge"] = frame.loc[judged, "judge"].where(frame.loc[judged, "judge"].notna(), path.stem)
    frame.loc[judged, "eval_prompt"] = frame.loc[judged, "eval_prompt"].where(
        frame.loc[judged, "eval_prompt"].notna(), "-"
    )
    frame["status"] = _status(frame, path)
    known = {criterion.name: criterion for criterion in criteria}
    names = [str(name) for name in pd.unique(frame["criterion"])]
    off = _off_scale(frame, known)
    return Import(
        frame=frame,
        judge=", ".join(sorted(frame.loc[judged, "judge"].astype(str).unique())) or "people only",
        criteria=[known[name] for name in names if name in known],
        notes=[*notes, *off],
        sources=[path],
    )


def _read(path: Path) -> pd.DataFrame:
    if path.suffix not in SUFFIXES:
        raise SpecError(f"{path}: the suffix says what the file is; allowed: {', '.join(SUFFIXES)}")
    if not path.is_file():
        raise DataError("there is no such file", file=path)
    if path.suffix == ".csv":
        rows: list[dict[str, Any]] = [dict(cells) for _, cells in csv_rows(path, NEEDED)]
        return pd.DataFrame(rows).replace({"": None})
    if path.suffix == ".jsonl":
        lines = list(json_lines(path))
        strange = next((row for row, value in lines if not isinstance(value, dict)), None)
        if strange is not None:
            raise DataError("is not a JSON object", file=path, row=strange)
        return pd.DataFrame([value for _, value in lines])
    try:
        import pyarrow  # noqa: F401  only to say in one sentence what is missing
    except ImportError as error:
        raise MissingExtraError(f"reading {path.name}", "data") from error
    return pd.read_parquet(path)


def _check_columns(frame: pd.DataFrame, path: Path) -> None:
    missing = [column for column in NEEDED if column not in frame.columns]
    if missing:
        raise DataError("columns are missing", file=path, found=missing, allowed=", ".join(COLUMNS))
    strange = [str(column) for column in frame.columns if column not in COLUMNS]
    if strange:
        raise DataError(unknown("column", strange[0], COLUMNS), file=path)
    if frame.empty:
        raise DataError("holds no ratings", file=path)


def _numbers(values: pd.Series[Any], path: Path, column: str) -> pd.Series[float]:
    numbers = pd.to_numeric(values, errors="coerce").astype(np.float64)
    _refuse(values.notna() & ~np.isfinite(numbers), values, path, column, "not a number")
    return numbers


def _status(frame: pd.DataFrame, path: Path) -> pd.Series[str]:
    """The file's status, or `imported` where there is a rating and none is given."""
    silent = frame["status"].isna()
    lost = silent & frame["rating"].isna()
    _refuse(lost, frame["story"], path, "rating", "neither a rating nor a status that says why there is none; story")
    return frame["status"].where(~silent, np.where(frame["source"] == "judge", "imported", "ok"))


def _off_scale(frame: pd.DataFrame, known: dict[str, Criterion]) -> list[str]:
    low = frame["criterion"].map({name: c.scale.min for name, c in known.items()}).astype(np.float64)
    high = frame["criterion"].map({name: c.scale.max for name, c in known.items()}).astype(np.float64)
    off = (frame["source"] == "judge") & ((frame["rating"] < low) | (frame["rating"] > high))
    if not off.any():
        return []
    frame.loc[off, "rating"] = np.nan
    frame.loc[off, "status"] = "out_of_scale"
    return [f"{int(off.sum())} judges' ratings lie off their criterion's scale and count as missing"]


def _refuse(wrong: pd.Series[bool], values: pd.Series[Any], path: Path, column: str, message: str) -> None:
    if wrong.any():
        at = int(wrong.to_numpy().argmax())
        raise DataError(
            message, file=path, row=at + (2 if path.suffix == ".csv" else 1), column=column, found=values.iloc[at]
        )
