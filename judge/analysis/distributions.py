"""Ratings as they are: the table of all of them, and how they are distributed over the points of the scale, for people
and for each judge with each Eval-Prompt.

Human ratings are counted singly, judges' ratings by repeat (an imported mean counts once). A rating between two points
counts as the nearer point, or the upper one if it is exactly halfway; the number of such ratings is reported."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np
import orjson
import pandas as pd
from pandas.api.types import is_numeric_dtype

from judge.analysis.inputs.rating_sources import Source, sources
from judge.analysis.options.signature import Signed, abbreviations, signature, signature_parts
from judge.analysis.options.table_options import DistributionOptions
from judge.base.arrays import Floats
from judge.base.errors import MissingExtraError, SpecError
from judge.base.files import draft, write_whole, writing
from judge.base.printing.tables import Column, Table, cells_of, plain
from judge.base.printing.text_layout import no_formula
from judge.base.records import Scale
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.ratings.ratings_table import RatingsTable

# Saves the ratings table to a file, or shows it on the screen.

SUFFIXES = (".csv", ".jsonl", ".parquet")

# Rows on the screen.
_SHOWN = 20


def save(frame: pd.DataFrame, path: Path) -> None:
    """Write the ratings table as .csv (null = empty), .jsonl (null = null) or .parquet, by the path's suffix. Raises
    SpecError for another suffix or a file that cannot be written, MissingExtraError for Parquet without pyarrow."""
    if path.suffix not in SUFFIXES:
        raise SpecError(f"{path}: the suffix says what to write; allowed: {', '.join(SUFFIXES)}")
    if path.suffix == ".parquet":
        save_parquet([frame], path)
    else:
        with writing(path):
            write_whole(path, csv_text(frame) if path.suffix == ".csv" else jsonl_text(frame))


def csv_text(frame: pd.DataFrame) -> str:
    """The frame as comma-separated text with a header; null is an empty field. Cells that look like formulas are
    escaped, so that spreadsheets do not run them."""
    safe = frame.copy(deep=False)
    returns = False
    for name, column in frame.items():
        if not is_numeric_dtype(column):
            safe[name] = column.map(no_formula)
            returns |= any(isinstance(cell, str) and "\r" in cell for cell in column)
    # Before Python 3.13 a carriage return alone is written without quotation marks, and ends the row.
    quoting: Literal[0, 2] = csv.QUOTE_NONNUMERIC if returns else csv.QUOTE_MINIMAL
    return str(safe.to_csv(index=False, lineterminator="\n", quoting=quoting))


def jsonl_text(frame: pd.DataFrame) -> str:
    """The frame as text with one JSON object per line; null stays null."""
    plain = frame.astype(object).where(frame.notna(), None)
    lines = (orjson.dumps(row, option=orjson.OPT_SERIALIZE_NUMPY).decode() for row in plain.to_dict("records"))
    return "".join(f"{line}\n" for line in lines)


def json_text(frame: pd.DataFrame) -> str:
    """The frame as text with one JSON list of objects; null stays null."""
    return "[" + jsonl_text(frame).rstrip("\n").replace("\n", ",\n") + "]\n"


def preview(table: RatingsTable, *, whole: bool = False) -> Table:
    """The first rows of the ratings table, or with `whole` all, without explanations."""
    frame = table.frame.drop(columns=["explanation"])
    head = frame.head(len(frame) if whole else _SHOWN).astype(object)
    head = head.where(head.notna(), None)
    head = head.assign(story_prompt=head["story_prompt"].map(_short))
    columns = [Column(str(name), str(name)) for name in head.columns]
    notes = [
        f"the first {len(head)} of {len(frame)} rows, story-prompts cut, without explanations; -o FILE.csv saves all"
    ]
    notes += table.notes
    records = [{str(key): value for key, value in row.items()} for row in head.to_dict("records")]
    return Table("Ratings", columns, records, signature(table, build(table)), tuple(dict.fromkeys(notes)))


def _short(text: Any, limit: int = 40) -> Any:
    return f"{text[: limit - 1]}…" if isinstance(text, str) and len(text) > limit else text


def save_parquet(frames: Iterable[pd.DataFrame], path: Path) -> None:
    """Write the rows of frames with the same columns as one Parquet file, frame by frame."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtraError("judge ratings -o FILE.parquet", "data") from error
    left = iter(frames)
    first = next(left)
    schema = pa.Schema.from_pandas(first, preserve_index=False)
    for place, column in enumerate(schema):
        if pa.types.is_null(column.type):
            schema = schema.set(place, column.with_type(pa.string()))
    with writing(path), draft(path) as fresh, parquet.ParquetWriter(fresh, schema) as file:
        for frame in chain([first], left):
            file.write_table(pa.Table.from_pandas(frame, schema, preserve_index=False))


# Scales with more points are counted in ranges of equally many.
MOST_POINTS = 11

_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Distribution:
    """Counts of the ratings that people, or one judge with one Eval-Prompt, gave on one criterion. `judge` is
    ``people`` for people, without run and Eval-Prompt. `points` are centres of the bins: points of the scale, or ranges
    of them. `asked` counts repeats requested (for people, ratings given), `between` ratings which are not a point.
    `mean` is None without ratings, and for labels without an order; `words` are the labels of the points."""

    run: str | None
    judge: str
    eval_prompt: str | None
    criterion: str
    points: tuple[float, ...]
    counts: tuple[int, ...]
    asked: int
    between: int
    mean: float | None
    control: bool = False
    words: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the scale points: their labels, or their numbers."""
        return self.words or tuple(f"{point:g}" for point in self.points)

    @property
    def n(self) -> int:
        """Number of ratings."""
        return sum(self.counts)

    @property
    def shares(self) -> tuple[float, ...]:
        """Share of the ratings at each point of the scale, 0 to 1; all 0 where there are no ratings."""
        return tuple(count / self.n if self.n else 0.0 for count in self.counts)


@dataclass(frozen=True, slots=True)
class Distributions(Signed):
    """Distributions of the ratings of one dataset, by source of ratings (people, or one judge) and criterion. `rows`
    has one row for each source, people first, with the `criteria` that it rated; `short` are their short names."""

    dataset: str
    criteria: tuple[str, ...]
    short: tuple[str, ...]
    rows: tuple[tuple[Distribution, ...], ...]
    stories: int


def distributions(table: RatingsTable, options: DistributionOptions | None = None) -> tuple[Distributions, ...]:
    """Distributions of all ratings over the points of the scale, one result for each dataset. The points are those of
    the criterion's scale in the result folders, and more where human ratings lie outside. Without a scale, they are
    whole numbers from the lowest to the highest rating."""
    options = options or DistributionOptions()
    return tuple(_dataset(matrix, table, options) for matrix in build(table, drop_systems=options.drop_systems))


def _dataset(matrix: RatingMatrix, table: RatingsTable, options: DistributionOptions) -> Distributions:
    matrix_sources = sources(matrix)
    judged = dict.fromkeys(name for source in matrix_sources if not source.is_people for name in source.criteria)
    criteria = tuple(judged) or matrix.criteria
    controls = {fact.judge for fact in table.facts if fact.control}
    edges = {
        name.casefold(): _edges(name, matrix_sources, table, matrix.labels.get(name.casefold())) for name in criteria
    }
    rows = []
    for source in matrix_sources:
        kept = [k for k, name in enumerate(source.criteria) if name.casefold() in edges]
        rows.append(tuple(_count(source, k, edges[source.criteria[k].casefold()], controls) for k in kept))
    short = abbreviations(table)
    notes = list(table.notes)
    between = sum(distribution.between for row in rows for distribution in row)
    if between:
        notes.append(f"{between} ratings lie between two points and count as the nearer one, halfway as the upper one")
    return Distributions(
        dataset=matrix.dataset,
        criteria=criteria,
        short=tuple(short.get(name, name) for name in criteria),
        rows=tuple(row for row in rows if row),
        stories=matrix.n,
        signature_parts=signature_parts(table, [matrix], options),
        notes=tuple(notes),
    )


def _edges(criterion: str, matrix_sources: Sequence[Source], table: RatingsTable, labels: Scale | None) -> Floats:
    scales = [c.scale for fact in table.facts for c in fact.criteria if c.name.casefold() == criterion.casefold()]
    step = min((scale.step for scale in scales if scale.step), default=1.0) or 1.0
    ratings = [
        source.ratings(k)
        for source in matrix_sources
        for k, name in enumerate(source.criteria)
        if name.casefold() == criterion.casefold()
    ]
    ends = [float(f(values)) for values in ratings if not np.isnan(values).all() for f in (np.nanmin, np.nanmax)]
    ends += [end for scale in scales for end in (scale.min, scale.max)]
    origin = min((scale.min for scale in scales), default=float(np.floor(min(ends, default=1.0))))
    low = origin + step * np.floor((min(ends, default=1.0) - origin) / step + 0.5)
    points = int(np.floor((max(ends, default=5.0) - low) / step + 0.5)) + 1
    together = 1 if labels is not None else -(-points // MOST_POINTS)
    return np.asarray(low - step / 2 + step * together * np.arange(-(-points // together) + 1), dtype=np.float64)


def _count(source: Source, k: int, edges: Floats, controls: set[str]) -> Distribution:
    ratings = source.ratings(k)
    rated = ratings[~np.isnan(ratings)]
    bins = np.searchsorted(edges, rated + _SAME, side="right") - 1
    counts = np.bincount(np.clip(bins, 0, edges.size - 2), minlength=edges.size - 1)
    middles = (edges[:-1] + edges[1:]) / 2
    row = source.rows[k]
    asked = rated.size if source.is_people else int(source.matrix.asked[row].sum())
    unit = float(edges[1] - edges[0])
    whole = np.abs((rated - middles[0]) / unit - np.round((rated - middles[0]) / unit)) < _SAME
    scale = source.matrix.labels.get(source.criteria[k].casefold())
    return Distribution(
        run=source.run,
        judge=source.judge,
        eval_prompt=source.eval_prompt,
        criterion=source.criteria[k],
        points=tuple(float(middle) for middle in middles),
        counts=tuple(int(count) for count in counts),
        asked=asked,
        between=int((~whole).sum()),
        mean=float(rated.mean()) if rated.size and (scale is None or scale.numeric) else None,
        control=source.judge in controls,
        words=() if scale is None else tuple(scale.text_of(float(middle)) for middle in middles),
    )


# Printed table of the share of each scale point among the ratings.


def table(distributions: Distributions) -> Table:
    """One row per source (people, or a judge with an Eval-Prompt) and criterion, one column per point of the scale."""
    named = {
        (point, name)
        for row in distributions.rows
        for distribution in row
        for point, name in zip(distribution.points, distribution.names, strict=True)
    }
    # Labels of several criteria may have one code: each has its own column, beside those of the same code.
    points = [name for _, name in sorted(named)]
    columns = plain("judge", "eval_prompt", "criterion")
    columns += [Column(name, f"{name} %", digits=1, factor=100) for name in dict.fromkeys(points)]
    columns += [Column("n", "ratings"), *plain("asked", "mean")]
    rows = [
        cells_of(distribution, "judge", "eval_prompt", "criterion")
        | dict(zip(distribution.names, distribution.shares, strict=True))
        | cells_of(distribution, "n", "asked", "mean")
        for row in distributions.rows
        for distribution in row
    ]
    return Table(
        f"Shares of ratings, {distributions.dataset}", columns, rows, distributions.signature, distributions.notes
    )
