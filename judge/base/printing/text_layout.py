"""Values as words, and tables as plain text: aligned columns, signature and notes, no wider than the screen. For that,
titles are wrapped, then texts in cells; then columns go into blocks, each with the columns that identify a row. On a
very narrow screen, a row's cells stand one below another."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import floor, log10
from typing import TypeVar

from judge.base.choices import MOST_PLAUSIBLE_COST
from judge.base.late_pattern import late

# Foreign texts made safe for terminals and spreadsheets: control characters and formulas are shown, not executed.

# Formatting characters that scripts and emoji need, and that move nothing.
JOINERS = "\u200c\u200d"

_HIDDEN = late(r"[^\n\t\x20-\x7e]")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_T = TypeVar("_T")


def visible(text: str) -> str:
    r"""The text with control and formatting characters (escape sequences, text direction) as escapes such as \x1b."""
    return _HIDDEN.sub(_shown, text.replace("\r\n", "\n"))


def _shown(match: re.Match[str]) -> str:
    character = match.group()
    seen = character.isprintable() or character.isspace() or character in JOINERS
    control = character < " " or "\x7f" <= character <= "\x9f" or character in "\u2028\u2029"
    return character if seen and not control else ascii(character)[1:-1]


def no_formula(value: _T) -> _T | str:
    """A value for a CSV cell, with an apostrophe in front of text that a spreadsheet would execute as a formula."""
    if not isinstance(value, str) or not value.startswith(_FORMULA):
        return value
    return value if _is_number(value) else f"'{value}"


def as_written(cell: str) -> str:
    """A CSV cell's original text, without the apostrophe of `no_formula`."""
    return cell[1:] if cell[:1] == "'" and no_formula(cell[1:]) != cell[1:] else cell


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return len(text) == 1
    return True


# Makes unique keys for columns whose titles come from the data, such as criteria and judges.


def column_keys(titles: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """A key for each title; one that occurred before or is in `taken` gets a number: "coherence (2)"."""
    names, keys = set(taken), []
    for title in titles:
        key, number = title, 2
        while key in names:
            key, number = f"{title} ({number})", number + 1
        names.add(key)
        keys.append(key)
    return keys


# Converts times in seconds since 1970, as journals and manifests store them, to dates.


def moment(seconds: object) -> datetime | None:
    """The moment in UTC; None for no number, or one beyond the calendar, such as the year 33658 in a foreign file."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return None


def dollars(amount: float) -> str:
    """The amount as $0.0818 or $1,234.50; very small ones have two significant digits: $0.00012."""
    if amount >= 100:
        return f"${amount:,.2f}"
    places = 4 if amount <= 0 else max(4, 1 - floor(log10(amount)))
    return f"${amount:.{places}f}"


def implausible_costs(calls: int) -> str:
    """Words for the number of requests whose cost, as the server reported it, is too high to be one."""
    told = "1 request costs" if calls == 1 else f"{calls:,} requests cost"
    return f"the server reported that {told} more than {dollars(MOST_PLAUSIBLE_COST)} each, which is not counted"


def about(amount: float) -> str:
    """An estimated amount with two significant digits; from $100 on with cents, as exact amounts."""
    if amount >= 100 or amount < 1e-4:
        return dollars(amount)
    return f"${float(f'{amount:.2g}'):g}"


# Width of the screen; None where output is not a terminal.

# Below this many columns, tables and lists are laid out one under another.
NARROW = 60


def columns() -> int | None:
    """Number of columns of the terminal, or COLUMNS where it is set; None for files and pipes."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def narrow() -> int | None:
    """Width of the screen in columns if it is narrow (less than 60); None otherwise, and for files and pipes."""
    width = columns()
    return width if width is not None and width < NARROW else None


# Blanks between two columns.
GAP = 2

# Characters to which a column of text may shrink before the table is printed in blocks.
LEAST_TEXT = 12


@dataclass(frozen=True, slots=True)
class Cells:
    """A table as text. `wraps` limits the width of texts (None = no limit)."""

    titles: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]
    wraps: tuple[int | None, ...]

    def of(self, columns: Sequence[int]) -> Cells:
        rows = tuple(tuple(row[i] for i in columns) for row in self.rows)
        return Cells(
            tuple(self.titles[i] for i in columns),
            rows,
            tuple(self.numeric[i] for i in columns),
            tuple(self.wraps[i] for i in columns),
        )

    def widest(self, column: int) -> int:
        """Width in characters of the widest cell of a column, after long texts are wrapped."""
        limit = self.wraps[column]
        cells = [row[column] for row in self.rows]
        lines = [line for cell in cells for line in (_wrapped(cell, limit) if limit else [cell])]
        return max((len(line) for line in lines), default=0)


def blocks(cells: Cells, width: int | None) -> list[list[str]]:
    """The body's lines, in one block or, where it is wider than `width`, several with some of the columns each."""
    widths = _widths(cells, width)
    if width is None or _total(widths) <= width:
        return [_lines(cells, widths)]
    keys = _leading_texts(cells, widths, width)
    text_blocks = []
    for group in _groups(cells, widths, keys, width):
        part = cells.of([*keys, *group])
        text_blocks.append(_lines(part, _widths(part, width)))
    return text_blocks


def total_width(cells: Cells) -> int:
    """Width in characters when nothing is made narrower."""
    return _total(_widths(cells, None))


def _widths(cells: Cells, width: int | None) -> list[int]:
    # Titles are wrapped first, and then texts.
    columns = range(len(cells.titles))
    body = [cells.widest(i) for i in columns]
    whole = [max(len(cells.titles[i]), body[i]) for i in columns]
    if width is None or _total(whole) <= width:
        return whole
    words = [max((len(word) for word in cells.titles[i].split()), default=0) for i in columns]
    widths = [max(words[i], body[i]) for i in columns]
    spare = width - _total(widths)
    # What room is left goes to the titles that are broken, from the left.
    for i in columns:
        more = min(max(0, spare), whole[i] - widths[i])
        widths[i] += more
        spare -= more
    for i in sorted(columns, key=lambda i: -widths[i]):
        if spare >= 0:
            break
        if not cells.numeric[i]:
            less = min(-spare, max(0, widths[i] - max(LEAST_TEXT, words[i])))
            widths[i] -= less
            spare += less
    return widths


def _leading_texts(cells: Cells, widths: Sequence[int], width: int) -> list[int]:
    # They identify a row: text columns before the first of numbers, together at most half of the screen wide.
    leading: list[int] = []
    for i, numeric in enumerate(cells.numeric[:-1]):
        if numeric or (leading and _total([widths[k] for k in (*leading, i)]) > width // 2):
            break
        leading.append(i)
    return leading


def _groups(cells: Cells, widths: Sequence[int], keys: Sequence[int], width: int) -> Iterator[list[int]]:
    left = sum(widths[i] + GAP for i in keys)
    group: list[int] = []
    room = width - left
    for i in range(len(cells.titles)):
        if i in keys:
            continue
        if group and widths[i] > room:
            yield group
            group, room = [], width - left
        group.append(i)
        room -= widths[i] + GAP
    if group:
        yield group


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _lines(cells: Cells, widths: Sequence[int]) -> list[str]:
    rule = (" " * GAP).join("─" * width for width in widths)
    head = _row(cells.titles, widths, cells.numeric, bottom=True) if any(cells.titles) else []
    body = [line for row in cells.rows for line in _row(row, widths, cells.numeric, bottom=False, wraps=cells.wraps)]
    return [*head, rule, *body]


def _row(
    texts: Sequence[str],
    widths: Sequence[int],
    right: Sequence[bool],
    *,
    bottom: bool,
    wraps: Sequence[int | None] | None = None,
) -> list[str]:
    # With `bottom` (for titles), shorter cells are aligned to the last line.
    limits = [
        min(width, wrap) if wrap else width for width, wrap in zip(widths, wraps or [None] * len(widths), strict=True)
    ]
    cells = [_wrapped(text, limit) for text, limit in zip(texts, limits, strict=True)]
    height = max(1, *map(len, cells))
    filled = [[*[""] * (height - len(c)), *c] if bottom else [*c, *[""] * (height - len(c))] for c in cells]
    lines = []
    for parts in zip(*filled, strict=True):
        padded = (p.rjust(w) if r else p.ljust(w) for p, w, r in zip(parts, widths, right, strict=True))
        lines.append((" " * GAP).join(padded).rstrip())
    return lines


def _wrapped(text: str, width: int) -> list[str]:
    # Names with hyphens are not split where they fit.
    if len(text) <= width:
        return [text]
    return textwrap.wrap(text, width, break_on_hyphens=False) or [""]


def signature_lines(signature: str, width: int | None) -> list[str]:
    """Lines of the signature, split at "|", and within a part only where it is too wide."""
    if width is None or len(signature) <= width:
        return [signature]
    lines = [""]
    for part in signature.split("|"):
        longer = f"{lines[-1]}|{part}" if lines[-1] else part
        if len(longer) <= width or not lines[-1]:
            lines[-1] = longer
        else:
            lines[-1] += "|"
            lines.append(part)
    return [piece for line in lines for piece in (textwrap.wrap(line, width) or [line])]


def note_lines(notes: Sequence[str], width: int | None) -> list[str]:
    """Lines of the notes, as items of a list, wrapped between words at `width`."""
    if width is None:
        return [f"· {note}" for note in notes]
    return [
        line
        for note in notes
        for line in textwrap.wrap(f"· {note}", width, subsequent_indent="  ", break_on_hyphens=False)
    ]


def one_under_another(titles: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """Each row as a list of "title: cell", with a horizontal rule before each row and at the end."""
    for row in rows:
        yield "─" * width
        for title, text in zip(titles, row, strict=True):
            yield from textwrap.wrap(f"{title}: {text}" if title else text, width, subsequent_indent="  ")
    yield "─" * width
