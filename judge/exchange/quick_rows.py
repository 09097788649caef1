"""Reads a ratings file column by column: in a tenth of the time that its rows take one by one.

Only plain files are read so: CSV, TSV and Parquet with a row for each rating or a column for each judge and person,
whose cells hold single numbers and contradict nothing. For any other, and to say what is wrong in a row, the reader of
rows takes the file from its start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judge.base.records import STATUSES
from judge.exchange.ratings_rows import OWN, RatingsMap, left_words
from judge.inputs.datasets.files.column_map import label
from judge.inputs.datasets.files.encoding import encoding_of
from judge.inputs.datasets.files.layouts.total_rows import ends_in_totals
from judge.inputs.datasets.files.source_file import missing_in
from judge.inputs.datasets.files.table_file import separator
from judge.ratings.ratings_table import COLUMNS

# Bytes of a file from which on the difference is felt.
LEAST_BYTES = 1 << 20
# How many times smaller Parquet writes the same rows.
_PACKED = 16

_NUMBERS = ("rating", "repeat")
_LONG = ("explanation", "flags")
_FACTS = ("system", "story_prompt", "text", "reference")
_ANSWER = ["run", "dataset", "judge", "eval_prompt", "story", "criterion", "repeat"]
_PERSON = ["dataset", "rater", "story", "criterion"]


@dataclass(frozen=True, slots=True)
class QuickRows:
    """Ratings with the columns of a ratings table, judges' first, and one row of facts for each story."""

    frame: pd.DataFrame
    stories: pd.DataFrame


def quick_rows(path: Path, columns: RatingsMap, dataset: str | None, unrated: str | None = None) -> QuickRows | None:
    """The rows of a plain file, long or with a column for each judge and person; None where the reader of rows is to
    take it. `unrated` is the status of a judge's empty cells in columns of their own."""
    if columns.labels or columns.judges or columns.out_of is not None or columns.sheet:
        return None
    known = {*COLUMNS, "text", "reference"} if not columns.wide else {*_FACTS, "story", "dataset", "rater", "criterion"}
    constants = {name: column for name, column in columns.fields.items() if column.startswith("=")}
    plain = columns.wide or not columns.anonymous
    if (
        not plain
        or (columns.wide and columns.judge_names)
        or not known >= {*columns.fields}
        or not {*constants.values()}.isdisjoint({"=row"})
    ):
        return None
    if left_words(columns.missing) or ends_in_totals(path):
        return None
    suffix = path.suffix.lower()
    least = LEAST_BYTES // _PACKED if suffix == ".parquet" else LEAST_BYTES
    if suffix not in (".csv", ".tsv", ".parquet") or path.stat().st_size < least:
        return None
    frame = _read(path, columns)
    if frame is None:
        return None
    if columns.wide:
        return _wide(frame, columns, path.stem, dataset, unrated)
    if not _with_defaults(frame, columns, path.stem, dataset, unrated):
        return None
    stories = _stories(frame)
    if stories is None or _twice(frame):
        return None
    judged = frame["source"] == "judge"
    order = np.argsort(~judged.to_numpy(), kind="stable")
    return QuickRows(frame.reindex(columns=list(COLUMNS)).iloc[order].reset_index(drop=True), stories)


def _read(path: Path, columns: RatingsMap) -> pd.DataFrame | None:
    """The columns that are read, by their fields' names, names as categories; columns of ratings keep theirs."""
    named = {name: column for name, column in columns.fields.items() if not column.startswith("=")}
    rated = [column for many in (*columns.by_judge.values(), *columns.people.values()) for _, column in many]
    if len({*named.values(), *rated}) < len(named) + len(rated):
        return None
    kinds: dict[str, Any] = {
        column: "float64" if name in _NUMBERS else "str" if name in _LONG else "category"
        for name, column in named.items()
    } | dict.fromkeys(rated, "float64")
    try:
        frame = (
            _parquet(path, kinds, columns.missing) if path.suffix.lower() == ".parquet" else _csv(path, kinds, columns)
        )
    except (ValueError, TypeError, KeyError, OSError):
        return None
    frame = frame.rename(columns={column: name for name, column in named.items()})
    for name, constant in columns.fields.items():
        if constant.startswith("="):
            frame[name] = pd.Categorical([constant[1:]] * len(frame))
    return frame


def _csv(path: Path, kinds: Mapping[str, Any], columns: RatingsMap) -> pd.DataFrame:
    numbers = [column for column, kind in kinds.items() if kind == "float64"]
    blank = {column: ["", *missing_in(column, columns.missing)] if column in numbers else [""] for column in kinds}
    return pd.read_csv(
        path,
        sep="\t" if path.suffix.lower() == ".tsv" else separator(path),
        usecols=[*kinds],
        dtype=dict(kinds),
        keep_default_na=False,
        na_values=blank,
        decimal="," if columns.decimal_comma else ".",
        encoding=encoding_of(path),
    )


def _parquet(path: Path, kinds: Mapping[str, Any], missing: tuple[str, ...]) -> pd.DataFrame:
    """The columns of a Parquet file. Raises ValueError for cells of other kinds than numbers and names."""
    frame = _by_column(path, kinds)
    for column, kind in kinds.items():
        if kind == "float64":
            number = pd.api.types.is_numeric_dtype(frame[column]) and not pd.api.types.is_bool_dtype(frame[column])
            if not number and frame[column].notna().any():
                raise ValueError(column)
            frame[column] = frame[column].astype("float64")
            codes = [
                float(word) for word in missing_in(column, missing) if word.lstrip("-").replace(".", "", 1).isdigit()
            ]
            frame[column] = frame[column].mask(frame[column].isin(codes))
        elif kind == "category":
            given = frame[column].astype("category")
            given = given.cat.remove_categories([name for name in given.cat.categories if name == ""])
            frame[column] = given.cat.rename_categories([str(label(name)) for name in given.cat.categories.tolist()])
        elif frame[column].notna().any() and not pd.api.types.is_string_dtype(frame[column].dropna()):
            raise ValueError(column)
    texts = [column for column, kind in kinds.items() if kind == "str"]
    for column in texts:
        frame[column] = frame[column].where(frame[column] != "", None)
    return frame


def _by_column(path: Path, kinds: Mapping[str, Any]) -> pd.DataFrame:
    """The columns as read, each name and text once; one after another, since what is read takes many times the room."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pq.read_schema(path)
    columns: dict[str, pd.Series[Any]] = {}
    for column, kind in kinds.items():
        type_ = schema.field(column).type
        words = kind == "category" and (pa.types.is_string(type_) or pa.types.is_large_string(type_))
        table = pq.read_table(path, columns=[column], read_dictionary=[column] if words else None, use_threads=False)
        columns[column] = (table.unify_dictionaries() if words else table).to_pandas()[column]
        del table
        pa.default_memory_pool().release_unused()
    return pd.DataFrame(columns)


def _wide(
    frame: pd.DataFrame, columns: RatingsMap, stem: str, dataset: str | None, unrated: str | None
) -> QuickRows | None:
    """Rows of ratings from a column for each judge and person; a story's that several rows repeat count once."""
    if frame["story"].isna().any():
        return None
    frame["dataset"] = _filled(_column(frame, "dataset"), dataset or stem)
    if dataset is not None and not frame["dataset"].isin([dataset]).all():
        return None
    stories = _stories(frame)
    own = OWN in {*columns.by_judge, *columns.people}
    if stories is None or (own and ("criterion" not in frame or frame["criterion"].isna().any())):
        return None
    story = ["dataset", "story", *(["criterion"] if own else [])]
    by_person = [*story, *(["rater"] if "rater" in frame else [])]
    blocks = []
    for source, many, keys in (("judge", columns.by_judge, story), ("rater", columns.people, by_person)):
        places = [(criterion, who, column) for criterion, pairs in many.items() for who, column in pairs]
        if not places:
            continue
        once = frame[[*dict.fromkeys(keys), *(column for _, _, column in places)]].drop_duplicates()
        if once.duplicated(keys).any():
            return None
        block = _block(once, places, source, anonymous=columns.anonymous)
        if source == "judge" and block["rating"].isna().any() and unrated is None:
            return None
        blocks.append(block if source == "judge" else block[block["rating"].notna()])
    both = pd.concat(blocks, ignore_index=True)
    if not np.isfinite(both["rating"].dropna()).all():
        return None
    lost = both["rating"].isna().to_numpy()
    kinds = np.where(both["source"] == "rater", "ok", np.where(lost, unrated or "", "imported"))
    both = both.assign(run=pd.Categorical([stem] * len(both)), status=pd.Categorical(kinds))
    both = both.reindex(columns=list(COLUMNS))
    for name in ("judge", "rater", "criterion", "source", "eval_prompt", "story", "dataset"):
        both[name] = both[name].astype("category")
    return QuickRows(both.assign(repeat=pd.array([pd.NA] * len(both), dtype="Int64")), stories)


def _block(
    once: pd.DataFrame, places: Sequence[tuple[str, str | None, str]], source: str, *, anonymous: bool
) -> pd.DataFrame:
    """The ratings of one side, row by row, in the order of the columns `places`: (criterion, who, column)."""
    count, rows = len(places), len(once)
    every = np.repeat(np.arange(rows), count)
    whos = [who or column for _, who, column in places] if source == "judge" else [who for _, who, _ in places]
    names = once["rater"].iloc[every] if "rater" in once and source == "rater" else None
    who = pd.Categorical(whos * rows) if names is None or any(whos) else names.to_numpy()
    own = places[0][0] == OWN
    block = once[["dataset", "story"]].iloc[every].reset_index(drop=True)
    none = _nothing(len(block))
    return block.assign(
        criterion=once["criterion"].iloc[every].to_numpy() if own else pd.Categorical([c for c, _, _ in places] * rows),
        source=pd.Categorical([source] * len(block)),
        judge=who if source == "judge" else none,
        eval_prompt=pd.Categorical(["-" if source == "judge" else None] * len(block)),
        rater=none if source == "judge" or anonymous else who,
        rating=once[[column for _, _, column in places]].to_numpy(np.float64).ravel(),
    )


def _column(frame: pd.DataFrame, name: str) -> pd.Series[Any]:
    return frame[name] if name in frame else pd.Series(_nothing(len(frame)), index=frame.index)


def _with_defaults(
    frame: pd.DataFrame, columns: RatingsMap, stem: str, dataset: str | None, unrated: str | None
) -> bool:
    """Fills in what the file does not say; False where a row is unusual."""
    for name in COLUMNS:
        if name not in frame:
            frame[name] = np.nan if name in _NUMBERS else _nothing(len(frame))
    if frame[["story", "criterion"]].isna().any(axis=None) or not np.isfinite(frame["rating"].dropna()).all():
        return False
    if dataset is not None and not frame["dataset"].dropna().isin([dataset]).all():
        return False
    if columns.judge_names and frame["judge"].notna().any():
        return False
    if columns.judge_names:
        _judges_apart(frame, columns.judge_names)
    person = frame["rater"].notna() & frame["judge"].isna()
    given = frame["source"]
    if not {*given.cat.categories} <= {"judge", "rater"}:
        return False
    rater = np.where(given.notna(), (given == "rater").to_numpy(), person)
    if frame.loc[~rater, "rater"].notna().any() or frame.loc[rater, "judge"].notna().any():
        return False
    frame["source"] = _named(rater.astype(np.int8), ["judge", "rater"])
    frame["run"] = _filled(frame["run"], stem)
    frame["dataset"] = _filled(frame["dataset"], dataset or stem)
    for name, usual in (("judge", stem), ("eval_prompt", "-")):
        frame[name] = _filled(frame[name], usual).where(~rater)
    for name in ("repeat", "flags"):
        frame.loc[rater, name] = None
    frame["status"] = status = _statuses(frame, rater, unrated)
    if (
        not {*status.cat.categories} <= {*STATUSES}
        or (status.isin(["ok", "imported"]) != frame["rating"].notna()).any()
    ):
        return False
    repeats = frame["repeat"].dropna()
    if (repeats < 0).any() or (repeats % 1 != 0).any():
        return False
    frame["repeat"] = frame["repeat"].astype("Int64")
    return True


def _statuses(frame: pd.DataFrame, rater: Any, unrated: str | None) -> pd.Series[Any]:
    """The file's status of each row; without one that of a rating, or of none."""
    told = frame["status"].cat
    names = [*dict.fromkeys([*map(str, told.categories), "ok", "imported", *([unrated] if unrated else [])])]
    usual = np.where(rater, names.index("ok"), names.index("imported"))
    if unrated is not None:
        usual = np.where(frame["rating"].isna(), names.index(unrated), usual)
    codes = np.where(told.codes < 0, usual, told.codes)
    return pd.Series(_named(codes.astype(np.int8), names), index=frame.index)


def _named(codes: Any, names: Sequence[str]) -> pd.Categorical[Any]:
    dtype: Any = pd.CategoricalDtype([*names])
    whole: pd.Categorical[Any] = pd.Categorical.from_codes(codes, dtype=dtype).remove_unused_categories()
    return whole


def _nothing(count: int) -> pd.Categorical[Any]:
    return _named(np.full(count, -1, dtype=np.int8), [])


def _judges_apart(frame: pd.DataFrame, judges: frozenset[str]) -> None:
    """Moves the names of judges from the column of raters to their own."""
    moved = (frame["rater"].isin([*judges]) & frame["judge"].isna()).to_numpy()
    names = frame["rater"].cat.categories
    codes = frame["rater"].cat.codes.to_numpy()
    frame["judge"] = pd.Categorical.from_codes(np.where(moved, codes, -1), names).remove_unused_categories()
    frame["rater"] = pd.Categorical.from_codes(np.where(moved, -1, codes), names).remove_unused_categories()


def _filled(column: pd.Series[Any], usual: str) -> pd.Series[Any]:
    if not column.isna().any():
        return column
    categories = column.cat.categories
    return (column if usual in categories else column.cat.add_categories([usual])).fillna(usual)


def _stories(frame: pd.DataFrame) -> pd.DataFrame | None:
    """One row of facts for each story; None where two rows contradict each other."""
    facts = frame[["dataset", "story"]].drop_duplicates().set_index(["dataset", "story"])
    for name in _FACTS:
        if name not in frame:
            continue
        told = frame.loc[frame[name].notna(), ["dataset", "story", name]].drop_duplicates()
        if told.duplicated(["dataset", "story"]).any():
            return None
        facts = facts.join(told.set_index(["dataset", "story"])[name].astype(object))
    return facts.reset_index()


def _twice(frame: pd.DataFrame) -> bool:
    judged = frame["source"] == "judge"
    named = frame["rater"].notna()
    return bool(frame.loc[judged, _ANSWER].duplicated().any() or frame.loc[named, _PERSON].duplicated().any())
