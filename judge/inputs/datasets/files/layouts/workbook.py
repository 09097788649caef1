"""Rows of the sheets of an XLSX workbook: of one, or of several with the same columns and one that describes items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any

from judge.base.errors import DataError, MissingExtraError, unknown
from judge.base.wording import Advice
from judge.inputs.datasets.files.layouts.header_rows import LOOKED_AT, MOST_ROWS, Header, header_of, titles_above

# Bytes. A workbook is a ZIP archive, and the reader needs many times its unpacked size in memory.
_MOST_UNPACKED = 256 << 20
# Column of the sheet's name where sheets are read below each other; rows of a sheet with a table, columns of a legend,
# and sheets of the same columns at the least.
SHEET, _LEAST_ROWS, _LEGEND, _SEVERAL = "sheet", 3, 2, 2


def workbook_rows(path: Path, named: str | None, told: list[str] | None) -> Iterator[tuple[int, Any]]:
    try:
        import openpyxl
        from openpyxl.utils.exceptions import InvalidFileException
    except ImportError as error:
        raise MissingExtraError("XLSX", "data") from error
    import zlib
    from xml.etree.ElementTree import ParseError
    from zipfile import BadZipFile

    try:
        _check_size(path)
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        formulas = openpyxl.load_workbook(path, read_only=True)
    except (InvalidFileException, BadZipFile, zlib.error, EOFError, KeyError, ValueError, ParseError, OSError) as error:
        raise DataError("is not an XLSX workbook", file=path) from error
    try:
        sheets = _sheets(book, path, named)
        others = [sheet for sheet in book.worksheets if sheet not in sheets]
        described = _described(sheets, others, formulas, path, told)
        left = [sheet.title for sheet in others if sheet.title != described.sheet]
        if told is not None and left:
            told.append(f"sheets that are not read: {', '.join(left)}")
        for sheet in sheets:
            own = {SHEET: sheet.title} if len(sheets) > 1 else {}
            for row, cells in _sheet_rows(sheet, formulas[sheet.title], path):
                yield row, own | described.of(cells) | cells
    except (BadZipFile, zlib.error, EOFError, ParseError) as error:
        raise DataError(f"is a damaged XLSX workbook ({error})", file=path) from error
    finally:
        book.close()
        formulas.close()


@dataclass(frozen=True, slots=True)
class _Described:
    """What a sheet without ratings tells of each item, by the item's name in a column that the others have too."""

    sheet: str = ""
    key: str = ""
    items: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    columns: tuple[str, ...] = ()

    def of(self, cells: Mapping[str, Any]) -> dict[str, Any]:
        told = self.items.get(str(cells.get(self.key)), {})
        return {column: told.get(column) for column in self.columns}


def _described(
    sheets: Sequence[Any], left: Sequence[Any], formulas: Any, path: Path, told: list[str] | None
) -> _Described:
    """The sheet that describes the items of several sheets of the same columns; nothing where none does."""
    if len(sheets) < _SEVERAL:
        return _Described()
    names = _head(sheets[0])[0]
    for sheet in left:
        head = (_head(sheet) or [[]])[0]
        key, more = next((name for name in head if name in names), None), [name for name in head if name not in names]
        if key is None or not more:
            continue
        rows = [
            cells for _, cells in _sheet_rows(sheet, formulas[sheet.title], path) if any(_filled((*cells.values(),)))
        ]
        items = {str(cells[key]): cells for cells in rows}
        if len(items) == len(rows):
            if told is not None:
                told.append(f"the sheet {sheet.title} tells the {', '.join(more)} of each {key}")
            return _Described(sheet.title, key, items, tuple(more))
    return _Described()


def _check_size(path: Path) -> None:
    # When unpacked.
    from zipfile import ZipFile

    with ZipFile(path) as archive:
        size = sum(info.file_size for info in archive.infolist())
    if size > _MOST_UNPACKED:
        raise DataError(
            f"unpacks to {size / 1e6:,.0f} MB",
            file=path,
            allowed=f"at most {_MOST_UNPACKED / 1e6:,.0f} MB",
            hint="save it as CSV or Parquet",
        )


class SeveralSheetsError(DataError):
    """A workbook with several tables, of which none was named; `names` are those of their sheets."""

    names: tuple[str, ...] = ()


def _sheets(book: Any, path: Path, named: str | None) -> list[Any]:
    """The named sheet; else the only one with a table, or all of them where their headers are the same."""
    if named is not None:
        if named not in book.sheetnames:
            raise DataError(unknown("sheet", named, book.sheetnames), file=path)
        return [book[named]]
    heads = {sheet.title: head for sheet in book.worksheets if (head := _head(sheet))}
    tables = [title for title, head in heads.items() if len(head[0]) > 1 and len(head) > _LEAST_ROWS]
    tables = [title for title in tables if not _is_legend(heads[title])] or tables or [*heads]
    first = {tuple(heads[title][0]) for title in tables}
    if len(tables) > 1 and len(first) > 1 and (alike := _alike(heads, tables)):
        tables, first = alike, {tuple(heads[alike[0]][0])}
    if len(tables) > 1 and len(first) > 1:
        words = "name one: {columns!r} (in run.yaml: columns: {{sheet: {}}})"
        hint = Advice(words, tables[0], columns={"sheet": f"={tables[0]}"})
        error = SeveralSheetsError(f"holds {len(tables)} sheets", file=path, found=", ".join(tables), hint=hint)
        error.names = tuple(tables)
        raise error
    if not tables:
        raise DataError("the table has no rows", file=path)
    return [book[title] for title in tables]


def _alike(heads: Mapping[str, Sequence[Sequence[str]]], tables: Sequence[str]) -> list[str]:
    """The several sheets of the same columns with numbers, where no other sheet holds any beside its first column."""
    numbers = [title for title in tables if any(_is_number(cell) for row in heads[title][1:] for cell in row[1:])]
    same = len({tuple(heads[title][0]) for title in numbers}) == 1
    return numbers if same and len(numbers) >= _SEVERAL else []


def _is_number(cell: str) -> bool:
    return cell.replace(".", "", 1).isdigit()


def _is_legend(head: Sequence[Sequence[str]]) -> bool:
    """Whether the first rows of a sheet are two columns, the second of words: what codes or letters stand for."""
    numbers = [cell for row in head for cell in row[1:] if _is_number(cell)]
    return max(map(len, head)) <= _LEGEND and not numbers


def _head(sheet: Any) -> list[list[str]]:
    """The first rows of a sheet below a title that hold anything, as texts without what is empty."""
    rows = [*islice((row for row in sheet.iter_rows(values_only=True) if any(_filled(row))), _LEAST_ROWS + MOST_ROWS)]
    rows = rows[titles_above(rows) :][: _LEAST_ROWS + 1]
    return [[str(value) for value in row if value not in (None, "")] for row in rows]


def _filled(row: tuple[Any, ...]) -> list[bool]:
    return [value is not None and value != "" for value in row]


def _sheet_rows(sheet: Any, formulas: Any, path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    header: list[str] = []
    both = zip(sheet.iter_rows(values_only=True), formulas.iter_rows(values_only=True), strict=True)
    first = list(islice(both, MOST_ROWS + LOOKED_AT))
    several = _several_sheet_rows([values for values, _ in first])
    left = 0 if several is None else several.rows
    for row, (values, written) in enumerate(chain(first, both), start=1):
        filled = _filled(values)
        if several is not None:
            if any(filled):
                left -= 1
                if left < 0:
                    yield row, several.cells(values, path, row)
            continue
        if not header and any(filled):
            header = _sheet_header(values[: len(filled) - filled[::-1].index(True)], path, row)
        elif any(filled[len(header) :]):
            raise DataError("has cells to the right of the header's last column", file=path, row=row)
        elif any(_filled(written)):
            for column, value, formula in zip(header, values, written, strict=False):
                if value is None and formula is not None:
                    hint = "open it in a spreadsheet program and save it, so that the file holds the values"
                    message = "a formula that was never computed"
                    raise DataError(message, file=path, row=row, column=column, found=formula, hint=hint)
            yield row, dict(zip(header, values, strict=False)) | dict.fromkeys(header[len(values) :])


def _several_sheet_rows(rows: Sequence[tuple[Any, ...]]) -> Header | None:
    """The header of a sheet whose first filled row alone is none."""
    filled = [row for row in rows if any(_filled(row))]
    if not filled:
        return None
    last = max((at for at, full in enumerate(_filled(filled[0])) if full), default=-1)
    names = [str(value or "") for value in filled[0][: last + 1]]
    right = len(filled) > 1 and any(_filled(filled[1])[last + 1 :])
    return header_of(filled) if len({*names}) < len(names) or right else None


def _sheet_header(values: tuple[Any, ...], path: Path, row: int) -> list[str]:
    header = ["" if value is None else str(value).strip() for value in values]
    twice = next((name for name in header if header.count(name) > 1), None)
    if twice is not None:
        message = "the header names a column twice" if twice else "the header has columns without a name"
        raise DataError(message, file=path, row=row, column=twice, hint="give each column a name of its own")
    return header
