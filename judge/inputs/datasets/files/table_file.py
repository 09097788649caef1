"""Reads CSV, TSV, JSON, JSON Lines, Parquet and XLSX as rows of cells, counted as in an editor (a header is row 1);
those of Parquet and a JSON list from 1. A CSV file's separator is the one of comma, semicolon, tab and bar that divides
its first two rows into most cells. Of a workbook, the named sheet, the only one with a
table, or all with the same header are read, then with a column of the sheets' names."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from judge.base.errors import DataError, MissingExtraError
from judge.base.late_pattern import late
from judge.inputs.datasets.files.layouts.header_rows import LOOKED_AT, MOST_ROWS, Header, header_of, titles_above
from judge.inputs.datasets.files.layouts.one_hot import choices_as_ratings
from judge.inputs.datasets.files.layouts.raw_numbers import answers_with_numbers
from judge.inputs.datasets.files.layouts.survey_rows import answers_in_rows
from judge.inputs.datasets.files.layouts.system_columns import stories_in_rows
from judge.inputs.datasets.files.layouts.total_rows import without_totals
from judge.inputs.datasets.files.layouts.voted_records import rows_of_votes
from judge.inputs.datasets.files.layouts.workbook import workbook_rows
from judge.inputs.datasets.files.source_file import OUT_OF, csv_rows, json_lines, notation, read_json, text_of

SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet", ".xlsx")
_SEPARATORS = (",", ";", "\t", "|")
_COMMA_NUMBER = late(r"[+-]?\d+,\d+")
_LEAST_FRACTIONS = 5
EXPECTED = "expected("
# Share of a column's cells that are numbers, the others being words for none.
_MOSTLY = 0.7
# Rows from which the columns of formats without a header are known.
_LOOKED_AT = 100


def table_rows(
    path: Path, sheet: str | None = None, told: list[str] | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """(row number, cells by column) of a table. Keys that a JSON object lacks are None. `told` is given sentences on
    rows that are read otherwise than they stand, or left out. Raises DataError for another format or no rows."""
    rows = answers_with_numbers(choices_as_ratings(_as_written(path, sheet, told), told), told)
    yield from stories_in_rows(without_totals(rows, told), told)


def _as_written(path: Path, sheet: str | None, told: list[str] | None) -> Iterator[tuple[int, dict[str, Any]]]:
    suffix = path.suffix.lower()
    rows: Iterator[tuple[int, dict[str, Any]]]
    if suffix in (".csv", ".tsv"):
        divided_by = "\t" if suffix == ".tsv" else separator(path)
        header = _several_rows(path, divided_by)
        flat = csv_rows(path, separator=divided_by) if header is None else _below(path, divided_by, header)
        yield from answers_in_rows(flat, told)
        return
    if suffix == ".json":
        rows = rows_of_votes(_json(path))
    elif suffix in (".jsonl", ".ndjson"):
        rows = rows_of_votes(json_lines(path))
    elif suffix == ".parquet":
        rows = _parquet(path)
    elif suffix == ".xlsx":
        rows = workbook_rows(path, sheet, told)
    else:
        raise DataError(f"files ending in {suffix or 'nothing'} are not read", file=path, allowed=", ".join(SUFFIXES))
    row = 0
    for row, cells in rows:
        if not isinstance(cells, dict):
            raise DataError("not an object", file=path, row=row, found=cells)
        yield row, cells
    if row == 0:
        raise DataError("the table has no rows", file=path)


def table_columns(path: Path, sheet: str | None = None) -> list[str]:
    """Column names, with dotted names for values inside nested cells. Raises DataError for an empty table."""
    names: dict[str, None] = {}
    for at, (_, cells) in enumerate(table_rows(path, sheet)):
        for column, value in cells.items():
            names[column] = None
            names |= dict.fromkeys(_within(column, value))
        if at + 1 == _LOOKED_AT:
            break
    if not names:
        raise DataError("the table has no rows", file=path)
    return list(names)


def cell(cells: Mapping[str, Any], column: str) -> Any:
    """A row's value by the name in a column map: `=TEXT` is a constant, `a.b` key b of the object in column a (or of
    each in a list), `a.2` entry 2 of a list, from 0, `a+b` the values of columns a and b together, and
    `expected(p_1,p_2,p_3)` the mean rating by the probabilities of ratings in columns whose names end in these."""
    if column.startswith("="):
        return column[1:]
    if column in cells:
        return cells[column]
    if len(parts := parts_of(column)) > 1:
        values = [cell(cells, part) for part in parts]
        if None in values or "" in values:
            return None
        return _expected(parts, values) if column.startswith(EXPECTED) else "~".join(map(_as_text, values))
    if "." not in column:
        return None
    value: Any = cells
    for key in column.split("."):
        value = _key(value, key)
    return value


def is_column(name: str, present: Collection[str]) -> bool:
    """Whether a table with these columns has one of this name, or those that `a+b` puts together."""
    return name in present or (len(parts_of(name)) > 1 and all(part in present for part in parts_of(name)))


def parts_of(name: str) -> list[str]:
    """The columns that a name puts together, as `a+b` and `expected(a,b)` do; the name alone for another."""
    if name.startswith(EXPECTED) and name.endswith(")"):
        return name.removeprefix(EXPECTED)[:-1].split(",")
    return name.split("+")


def _expected(columns: Sequence[str], values: Sequence[Any]) -> Any:
    ratings = [float(column[len(column.rstrip("0123456789")) :]) for column in columns]
    try:
        shares = [float(str(value).replace(",", ".")) for value in values]
    except ValueError:
        return values[0]  # no number, which the reader of ratings tells
    return sum(rating * share for rating, share in zip(ratings, shares, strict=True)) / (sum(shares) or 1)


def _as_text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _key(value: Any, key: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(key)
    if isinstance(value, list):
        if key.isdecimal():
            return value[int(key)] if int(key) < len(value) else None
        return [_key(item, key) for item in value]
    return None


def _within(name: str, value: Any) -> Iterator[str]:
    # Such as `scores.plot` for the key `plot` in column `scores`.
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        value = value[0]
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield f"{name}.{key}"
            yield from _within(f"{name}.{key}", inner)


def has_decimal_commas(path: Path) -> bool:
    """Whether numbers of the table have a comma for a point: a CSV file whose separator is the semicolon, or another
    with a column of such numbers that are no lists of two."""
    suffix = path.suffix.lower()
    divided_by = "\t" if suffix == ".tsv" else separator(path) if suffix == ".csv" else ""
    if divided_by in ("", ";"):
        return divided_by == ";"
    rows = _first_rows(path, divided_by, 1 + LOOKED_AT)
    return any(map(_with_commas, zip_longest(*rows[1:], fillvalue="")))


def out_of(path: Path, sheet: str | None = None) -> str | None:
    """The second number of a table's ratings that are written 4/5, if it is the same in the first rows; else None, as
    4/5 may be two ratings too."""
    cells = (value for _, row in islice(table_rows(path, sheet), _LOOKED_AT) for value in row.values())
    kinds = Counter(written[0] for value in cells if (written := notation(value)) is not None)
    ends = {kind.removeprefix(OUT_OF): count for kind, count in kinds.items() if kind.startswith(OUT_OF)}
    return next(iter(ends)) if len(ends) == 1 and max(ends.values()) >= _LEAST_FRACTIONS else None


def _with_commas(cells: Sequence[str]) -> bool:
    parts = [part for cell in cells if (part := cell.strip())]
    commas = [part for part in parts if _COMMA_NUMBER.fullmatch(part)]
    plain = sum(part.lstrip("+-").isdigit() for part in parts)
    if not commas or len(commas) + plain < _MOSTLY * len(parts):
        return False
    return bool(plain) or any(len(part.partition(",")[2]) > 1 for part in commas)


def separator(path: Path) -> str:
    first = "\t".join(next(iter(_first_rows(path, "\t")), []))
    if len(first) == len("sep=;") and first.startswith("sep="):
        return first[-1]
    counts: dict[str, tuple[bool, int]] = {}
    for candidate in _SEPARATORS:
        rows = _first_rows(path, candidate)
        width = len(rows[0]) if rows else 0
        counts[candidate] = (width > 1 and all(len(row) == width for row in rows[1:]), width)
    return max(_SEPARATORS, key=counts.__getitem__)


def _first_rows(path: Path, candidate: str, most: int = 2) -> list[list[str]]:
    # Rows that cannot be read raise their error later.
    first_rows: list[list[str]] = []
    try:
        with text_of(path) as stream:
            for row in csv.reader(stream, delimiter=candidate):
                if row:
                    first_rows.append(row)
                if len(first_rows) == most:
                    break
    except (OSError, DataError, csv.Error):
        pass
    return first_rows


def _several_rows(path: Path, divided_by: str) -> Header | None:
    """The header of a CSV file whose first row alone is none."""
    rows = [row for row in _first_rows(path, divided_by, MOST_ROWS + LOOKED_AT) if any(row)]
    return header_of(rows) if rows and (len({*rows[0]}) < len(rows[0]) or titles_above(rows)) else None


def _below(path: Path, divided_by: str, header: Header) -> Iterator[tuple[int, dict[str, Any]]]:
    with text_of(path) as stream:
        rows = ((number, row) for number, row in enumerate(csv.reader(stream, delimiter=divided_by), 1) if any(row))
        for number, row in islice(rows, header.rows, None):
            yield number, header.cells(row, path, number)


def _json(path: Path) -> Iterator[tuple[int, Any]]:
    entries = read_json(path)
    if isinstance(entries, dict):
        lists = [
            value for value in entries.values() if isinstance(value, list) and value and isinstance(value[0], dict)
        ]
        if len(lists) == 1:
            entries = lists[0]
        elif len(entries) > 1 and all(isinstance(value, dict) for value in entries.values()):
            entries = [{"id": key} | value for key, value in entries.items()]
    if not isinstance(entries, list):
        keys = list(entries) if isinstance(entries, dict) else []
        raise DataError(
            "is not a list of objects, one for each row",
            file=path,
            found=f"an object with the keys {', '.join(keys[:5])}" if keys else type(entries).__name__,
            hint="in pandas: frame.to_json(FILE, orient='records')",
        )
    yield from enumerate(entries, start=1)


def _parquet(path: Path) -> Iterator[tuple[int, Any]]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingExtraError("Parquet", "data") from error
    row = 0
    try:
        with pq.ParquetFile(path) as table:
            for batch in table.iter_batches(batch_size=1000):
                for cells in batch.to_pylist():
                    row += 1
                    yield row, cells
    except (pa.ArrowException, OSError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise DataError(f"is not a Parquet file, or a damaged one: {error}", file=path) from error
