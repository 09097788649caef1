"""Reads result folders of imported ratings; every row is checked, and none changed.

`imported.csv` or `imported.parquet` has the ratings table's columns; `label` may stand beside or for `rating`, and
`panel` names raters' panels. Optional: `imported_stories.csv` (`dataset, story, words, text, reference`, numeric
features, and `story_prompt` where `imported.csv` has none), and `manifest.json` (`judge, criteria, notes`; `ratings`,
single or means; `labels_note`, `given` and `directions` as in `RunFacts`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judge.asking.run_folder import ResultFolder, read_manifest
from judge.base.errors import DataError, MissingExtraError
from judge.base.records import STATUSES, Criterion
from judge.ratings.ratings_table.columns import (
    COLUMNS,
    LABEL,
    PANEL,
    STORY_COLUMNS,
    RunFacts,
    categories,
    coded,
    ordered,
    refuse,
    width,
    without_empty,
)

# Reads imported ratings from a Parquet file with DuckDB.

# What DuckDB may use itself; the rows it hands over take about 30 bytes each beside that.
_MEMORY = "400MB"

# Vectors of 2,048 rows that are handed over at a time.
_VECTORS = 200

_NUMBERS = {"rating": ("DOUBLE", np.dtype(np.float64)), "repeat": ("SMALLINT", np.dtype(np.float32))}
_TEXT = "explanation"


def read_parquet(file: Path, *, explanations: bool) -> pd.DataFrame:
    """A Parquet file as a frame of categorical names and float ratings; without `explanations` these are null. Raises
    DataError for missing columns or another file, MissingExtraError without DuckDB."""
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
    # In chunks into arrays of the final size: fetching everything at once needs four times the memory.
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
    # They also become an enumeration type in DuckDB.
    names = f"SELECT DISTINCT {column}::VARCHAR AS name FROM ratings WHERE {column} IS NOT NULL ORDER BY name"  # noqa: S608
    db.execute(f"CREATE TYPE {column}_name AS ENUM ({names})")
    return [str(name) for (name,) in db.execute(names).fetchall()]


_KEPT_APART = ("dataset", "story", *STORY_COLUMNS, "reference")
_TEXTS = (
    "run",
    "judge",
    "dataset",
    "story",
    "story_prompt",
    "system",
    "criterion",
    "eval_prompt",
    "rater",
    PANEL,
    LABEL,
    "text",
    "reference",
    "flags",
    "explanation",
)


# Of a file with more bytes each name is kept once, as for Parquet.
_MANY_BYTES = 8 << 20
_NAMES = (
    "run",
    "judge",
    "dataset",
    "story",
    "story_prompt",
    "system",
    "criterion",
    "eval_prompt",
    "source",
    "rater",
    "status",
)


@dataclass(frozen=True, slots=True)
class Imported:
    """One imported result folder; its stories are indexed by (dataset, story)."""

    frame: pd.DataFrame
    stories: pd.DataFrame
    fact: RunFacts


def read_imported(folder: ResultFolder, *, explanations: bool = True, texts: bool = True) -> Imported:
    """A folder of imported ratings. Without `explanations` these are null, and without `texts` those of stories, which
    saves most of the memory. Raises DataError for missing columns, an unknown status, or a rating whose status says
    that there is none."""
    if folder.imported.suffix == ".parquet":
        frame = read_parquet(folder.imported, explanations=explanations)
    else:
        frame = _with_prompts(_table(folder.imported), folder.path / "imported_stories.csv")
    manifest = read_manifest(folder.manifest)
    criteria = tuple(Criterion.of(record) for record in manifest.get("criteria", ()))
    frame = _checked(frame, folder.imported, criteria)
    names = ", ".join(_names(frame["judge"]))
    fact = RunFacts(
        run=str(frame["run"].iloc[0]) if len(frame) else folder.path.name,
        judge=str(manifest.get("judge", names)),
        dataset=str(frame["dataset"].iloc[0]) if len(frame) else "",
        revision=None,
        repeats=_repeats(frame),
        criteria=criteria,
        eval_prompts=tuple(_names(frame["eval_prompt"])),
        parser="imported",
        notes=("ratings were imported, not parsed here", *manifest.get("notes", ())),
        control=False,
        path=folder.path,
        labels_note=manifest.get("labels_note"),
        given=manifest.get("given"),
        directions=_directions(manifest.get("directions")),
        single={"single": True, "means": False}.get(str(manifest.get("ratings"))),
    )
    frame = without_empty(frame)
    return Imported(frame[ordered(frame.columns)], _stories(folder.path / "imported_stories.csv", frame, texts), fact)


def _with_prompts(frame: pd.DataFrame, stories: Path) -> pd.DataFrame:
    """Rows whose story-prompts are kept with the stories, with these."""
    if "story_prompt" in frame.columns or not {"dataset", "story"} <= {*frame.columns} or not stories.is_file():
        return frame
    told = _table(stories, lambda name: name in ("dataset", "story", "story_prompt"))
    if "story_prompt" not in told.columns:
        return frame
    names = pd.MultiIndex.from_frame(told[["dataset", "story"]].astype(object))
    each = pd.Categorical(told["story_prompt"].astype(object))
    places = names.get_indexer(pd.MultiIndex.from_frame(frame[["dataset", "story"]]))
    codes = np.append(each.codes, -1).astype(np.int32)[places]
    frame["story_prompt"] = pd.Categorical.from_codes(codes, dtype=each.dtype)
    return frame


def _directions(stated: object) -> dict[str, int]:
    # 1 = higher is better, -1 = lower is better, 0 = neither.
    if not isinstance(stated, dict):
        return {}
    return {str(name): way for name, way in stated.items() if type(way) is int and way in (-1, 0, 1)}


def _repeats(frame: pd.DataFrame) -> int:
    # 0 = unknown, where some rating of a judge has no repeat number.
    numbers = frame.loc[frame["source"] == "judge", "repeat"]
    return 0 if numbers.isna().any() else int(numbers.nunique())


def _names(column: pd.Series[Any]) -> list[str]:
    # Human ratings have no judge and no Eval-Prompt.
    return sorted(str(name) for name in column.dropna().unique())


def _table(file: Path, wanted: Callable[[str], bool] | None = None) -> pd.DataFrame:
    # Only an empty field is null: a story may be called "NA", and a text may contain "#".
    try:
        kinds: dict[str, Any] = dict.fromkeys(_TEXTS, str)
        kinds |= dict.fromkeys(_NAMES, "category") if file.stat().st_size > _MANY_BYTES else {}
        return pd.read_csv(file, dtype=kinds, usecols=wanted, keep_default_na=False, na_values=[""])
    except ValueError as error:
        raise DataError(f"is not a table: {error}", file=file) from error


def _checked(frame: pd.DataFrame, file: Path, criteria: Sequence[Criterion]) -> pd.DataFrame:
    missing = [column for column in COLUMNS if column not in frame.columns]
    if missing:
        raise DataError("columns are missing", file=file, found=missing, allowed=", ".join(COLUMNS))
    status = frame["status"]
    refuse(~status.isin(STATUSES).to_numpy(), status, file, "unknown status", ", ".join(STATUSES))
    for column in ("rating", "repeat"):
        if not pd.api.types.is_numeric_dtype(frame[column]):
            numbers = pd.to_numeric(frame[column], errors="coerce")
            strange = frame[column].notna() & numbers.isna()
            refuse(strange.to_numpy(), frame[column], file, f"not a {column}", "a number, or nothing")
            frame[column] = numbers
    frame = coded(frame, criteria, file)
    rated = status.isin(("ok", "imported"))
    lost = frame["rating"].notna() & ~rated
    refuse(lost.to_numpy(), status, file, "a rating stands beside a status that says there is none", "ok, imported")
    unrated = frame["rating"].isna() & rated & (frame["source"] == "judge")
    without = ", ".join(name for name in STATUSES if name not in ("ok", "imported"))
    refuse(unrated.to_numpy(), status, file, "no rating stands beside a status that says there is one", without)
    # Repeats are few: 16 bits.
    frame["repeat"] = frame["repeat"].astype("Int16")
    frame["rating"] = frame["rating"].astype("float64")
    return frame


def _stories(file: Path, frame: pd.DataFrame, texts: bool) -> pd.DataFrame:
    # Story-prompt and system come from the ratings; words, text and features from the file.
    places = frame.drop_duplicates(["dataset", "story"]).set_index(["dataset", "story"])[["story_prompt", "system"]]
    if not file.is_file():
        return places.iloc[:0].assign(words=pd.Series(dtype="Int64"), text=pd.Series(dtype=str))
    facts = _table(file, None if texts else lambda name: name not in ("text", "reference"))
    needed = [column for column in ("dataset", "story") if column not in facts.columns]
    if needed:
        raise DataError("columns are missing", file=file, found=needed, allowed="dataset, story, and features")
    for column in facts.columns.difference(list(_KEPT_APART)):
        if not pd.api.types.is_numeric_dtype(facts[column]):
            raise DataError("a feature must be numeric", file=file, column=str(column), found=facts[column].iloc[0])
    more = ["story_prompt", "system", "reference"]
    facts = facts.set_index(["dataset", "story"]).drop(columns=more, errors="ignore")
    for column in ("words", "text"):
        if column not in facts.columns:
            facts[column] = pd.NA
    return places.join(facts, how="inner")
