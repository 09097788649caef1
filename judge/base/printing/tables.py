"""Tables as plain text, Markdown, LaTeX or JSON with their signature and notes, and as CSV, which holds rows alone."""

from __future__ import annotations

import csv
import io
import math
import os
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, Literal

import orjson

from judge.base.choices import FORMATS
from judge.base.errors import OptionError
from judge.base.estimate import Estimate
from judge.base.printing import text_layout
from judge.base.printing.text_layout import JOINERS, about, dollars, no_formula
from judge.base.wording import PLAIN, Advice, Wording, written

# Text for plain pdflatex: special characters become commands, and none is lost. Those outside ASCII and Latin-1
# without a command here, such as another script's, stay, and need LuaLaTeX or XeLaTeX.

_ESCAPED = {
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    # The old text fonts hold other signs in their places.
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}
_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "varepsilon", "ζ": "zeta", "η": "eta", "θ": "theta",
    "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "π": "pi", "ρ": "rho", "σ": "sigma",
    "ς": "varsigma", "τ": "tau", "υ": "upsilon", "φ": "varphi", "χ": "chi", "ψ": "psi", "ω": "omega", "Γ": "Gamma",
    "Δ": "Delta", "Θ": "Theta", "Λ": "Lambda", "Ξ": "Xi", "Π": "Pi", "Σ": "Sigma", "Υ": "Upsilon", "Φ": "Phi",
    "Ψ": "Psi", "Ω": "Omega",
}  # fmt: skip
_MATHS = {"−": "-", "×": r"\times", "±": r"\pm", "·": r"\cdot", "→": r"\rightarrow", "←": r"\leftarrow", "≤": r"\leq",
          "≥": r"\geq", "≠": r"\neq", "≈": r"\approx", "∞": r"\infty", "√": r"\surd", "¹": "^1", "²": "^2", "³": "^3",
          "★": r"\star", "☆": r"\star"}  # fmt: skip
_SIGNS = {
    **{sign: f"${command}$" for sign, command in _MATHS.items()},
    **{letter: rf"$\{name}$" for letter, name in _GREEK.items()},
    "µ": r"$\mu$",
    "—": "---",
    "–": "--",
    "\u2010": "-",
    "\u2011": "-",
    "…": r"\ldots{}",
    "‘": "`",
    "’": "'",
    "“": "``",
    "”": "''",
    "„": ",,",
    "•": r"\textbullet{}",
}
_TEXT = str.maketrans({**_SIGNS, **_ESCAPED, "|": r"\textbar{}"})
_MONOSPACED = str.maketrans({**_SIGNS, **_ESCAPED})
_COMMENT = str.maketrans(_SIGNS)


def latex_text(words: str) -> str:
    """Text escaped for a LaTeX cell or caption."""
    return words.translate(_TEXT)


def latex_monospaced(words: str) -> str:
    """Text escaped for LaTeX's texttt. Its fonts have a vertical bar, so this character is not replaced."""
    return words.translate(_MONOSPACED)


def latex_comment(words: str) -> str:
    """Text for a LaTeX comment after `%`, which is not typeset."""
    return words.translate(_COMMENT)


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its key in the rows, title, decimals, and a factor for values (100 for per cent).

    `half_width` prints a symmetric interval as ±; others are printed by their ends. `text` is free text, such as a
    story, whose markup is escaped in Markdown; longer than `wrap` characters, it goes on in further lines of the
    screen. `p` is the tail of p values, or ``row`` where the column `tail` names it; one that would round to 0 is
    printed as less than the last decimal (<0.01), and with `share` also a share that is not 0. `money` prints dollars,
    with `rough` to two significant digits. `main` is what the table is made for: a row in which it is undefined says
    nothing."""

    key: str
    title: str
    digits: int = 2
    factor: float = 1.0
    half_width: bool = False
    text: bool = False
    wrap: int | None = None
    p: Literal["", "two-sided", "greater", "less", "two one-sided", "row"] = ""
    share: bool = False
    money: bool = False
    rough: bool = False
    main: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table to print: rows of plain values or `Estimate`s, notes in whole sentences, and the signature below them.

    The signature (data and settings) is "" only below a previous table of the same numbers. Notes, cells and the
    reasons of undefined cells may be `judge.base.wording.Advice`, which names options as in Python until `worded`
    rewords it. `above` is printed above the title. `first` are the numbers of the rows that carry the answer, printed
    where not all can be (`judge.base.printing.shortened`); None or empty: all carry it."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Mapping[str, Any]]
    signature: str
    notes: Sequence[str] = field(default_factory=tuple)
    above: str = ""
    first: frozenset[int] | None = field(default=None, compare=False)


def plain(*columns: str | tuple[str, str] | Column) -> list[Column]:
    """Columns titled by their keys, with spaces for underscores; a pair is a key and its title."""
    pairs = ((column, column.replace("_", " ")) if isinstance(column, str) else column for column in columns)
    return [column if isinstance(column, Column) else Column(*column) for column in pairs]


def titled(**titles: str) -> list[Column]:
    """Columns by key, with their titles."""
    return [Column(key, title) for key, title in titles.items()]


def thousandths(**titles: str) -> list[Column]:
    """Columns of numbers with three decimals, by key."""
    return [Column(key, title, digits=3) for key, title in titles.items()]


def hundredths(**titles: str) -> list[Column]:
    """Columns of per cent, or of correlations x100, with one decimal, by key."""
    return [Column(key, title, digits=1, factor=100) for key, title in titles.items()]


def cells_of(row: object, *names: str, **others: Any) -> dict[str, Any]:
    """Cells by column: the attributes of a row of results with these names, and others by name."""
    return {**{name: getattr(row, name) for name in names}, **others}


def render(table: Table, form: str, *, color: bool = False, width: int | None = None) -> str:
    """The table in one of `FORMATS`, with a final newline. No line of the format `table` exceeds `width` columns (see
    `text_layout`); None = no limit."""
    if form == "json":
        return _json(table)
    if form == "csv":
        return _csv(table)
    if form == "md":
        return _markdown(table)
    if form == "latex":
        return _latex(table)
    if form == "table":
        return _plain(table, color=color, width=width)
    raise OptionError("format", form, allowed=FORMATS)


def worded(table: Table, wording: Wording | None) -> Table:
    """The table with options in notes and cells named as `wording` does; with None, text that only gives advice on
    options is removed."""
    notes = tuple(sentence for note in table.notes if (sentence := written(note, wording)))
    rows = [{key: _worded(value, wording) for key, value in row.items()} for row in table.rows]
    return replace(table, rows=rows, notes=notes)


def _worded(value: Any, wording: Wording | None) -> Any:
    if isinstance(value, Advice):
        return written(value, wording)
    if isinstance(value, Estimate) and isinstance(value.reason, Advice):
        # Why a number is missing is never left out.
        return replace(value, reason=written(value.reason, wording) or written(value.reason, PLAIN))
    return value


def printable(text: str) -> str:
    """The text on one line: spaces for line ends and tabs, escapes for characters that could change the text around
    them (escape sequences, text direction), but not for the two joiners that some scripts and emoji need."""
    line = text.translate(_BLANKS)
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() or c in JOINERS else ascii(c)[1:-1] for c in line)


def flat_row(row: Mapping[str, Any], columns: Sequence[Column]) -> dict[str, Any]:
    """A row of plain values. An `Estimate` k becomes k and k_n, with k_low and k_high if it has an interval and
    k_reason if undefined. With p values, `tail` names their tail; None where none is defined."""
    flat: dict[str, Any] = {}
    for column in columns:
        value = row.get(column.key)
        if isinstance(value, Estimate):
            flat[column.key] = value.value
            if value.low is not None or value.high is not None:
                flat[f"{column.key}_low"], flat[f"{column.key}_high"] = value.low, value.high
            flat[f"{column.key}_n"] = value.n
            if value.reason:
                flat[f"{column.key}_reason"] = value.reason
        else:
            flat[column.key] = None if isinstance(value, float) and math.isnan(value) else value
    if tails := {column.p: None for column in columns if column.p not in ("", "row")}:
        tested = any(flat.get(column.key) is not None for column in columns if column.p)
        flat["tail"] = ", ".join(tails) if tested else None
    return flat


_SPACES = "\u00a0\u1680\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_BLANKS = {ord(character): " " for character in f"\n\r\t\v\f\u0085\u2028\u2029{_SPACES}"}
_MARKUP = str.maketrans({character: f"\\{character}" for character in r"\`*_[]<>#|~$&"})


# What follows a column's key in the keys of its estimates' other parts.
_SUFFIXES = ("_low", "_high", "_n", "_reason")


def flat_rows(table: Table) -> list[dict[str, Any]]:
    """The rows as plain values, all with the same keys: every part of an `Estimate`, None where a row lacks it."""
    rows = [flat_row(row, table.columns) for row in table.rows]
    keys: dict[str, None] = {}
    for column in table.columns:
        keys[column.key] = None
        if any(isinstance(row.get(column.key), Estimate) for row in table.rows):
            keys |= dict.fromkeys(f"{column.key}{suffix}" for suffix in _SUFFIXES)
    keys |= dict.fromkeys(key for row in rows for key in row)
    return [{key: row.get(key) for key in keys} for row in rows]


def _json(table: Table) -> str:
    value = {
        "title": table.title,
        **({"answer": str(table.above)} if table.above else {}),
        "signature": table.signature,
        "rows": flat_rows(table),
        "notes": list(table.notes) + reasons(table),
    }
    options = orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(value, option=options).decode()


def _csv(table: Table) -> str:
    rows = flat_rows(table)
    known = set(rows[0]) if rows else set()
    names: dict[str, None] = {}
    for column in table.columns:
        names[column.key] = None
        if column.p not in ("", "row"):
            names["tail"] = None
        names |= dict.fromkeys(f"{column.key}{suffix}" for suffix in _SUFFIXES if f"{column.key}{suffix}" in known)
    stream = io.StringIO()
    writer = csv.DictWriter(stream, fieldnames=list(names), lineterminator="\n")
    writer.writeheader()
    # Before Python 3.13 a carriage return alone is written without quotation marks, and ends the row.
    careful = csv.DictWriter(stream, fieldnames=list(names), lineterminator="\n", quoting=csv.QUOTE_ALL)
    for row in rows:
        cells = {name: no_formula(_as_text(value)) for name, value in row.items()}
        returns = any(isinstance(cell, str) and "\r" in cell for cell in cells.values())
        (careful if returns else writer).writerow(cells)
    return stream.getvalue()


def notes_of(table: Table) -> list[str]:
    """Everything that belongs to the rows of a CSV and is not in them: signature, notes and the tails of p values."""
    return [*filter(None, [table.signature, *table.notes]), *tails_of(table)]


def _markdown(table: Table) -> str:
    def escape(text: str, column: Column | None = None) -> str:
        if column is not None and column.text:
            return text.translate(_MARKUP)
        return printable(text).replace("|", "\\|").replace("<", "&lt;").replace("](", "]\\(")

    lines = [escape(table.above), ""] if table.above else []
    lines += [f"**{escape(table.title)}**", ""]
    lines.append("| " + " | ".join(escape(c.title) for c in table.columns) + " |")
    lines.append("|" + "|".join("---:" if is_numeric(table, c) else "---" for c in table.columns) + "|")
    lines += ["| " + " | ".join(escape(cell_text(row, c), c) for c in table.columns) + " |" for row in table.rows]
    lines += ["", f"`{printable(table.signature)}`"] if table.signature else []
    lines += [f"- {escape(note)}" for note in [*table.notes, *reasons(table)]]
    return "\n".join(lines) + "\n"


def _latex(table: Table) -> str:
    spec = "".join("r" if is_numeric(table, c) else "l" for c in table.columns)
    lines = [r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{spec}}}", r"\toprule"]
    lines.append(" & ".join(latex_text(printable(c.title)) for c in table.columns) + r" \\")
    lines.append(r"\midrule")
    lines += [
        " & ".join(latex_text(printable(cell_text(row, c))) for c in table.columns) + r" \\" for row in table.rows
    ]
    lines += [r"\bottomrule", r"\end{tabular}"]
    signature = rf" \texttt{{{latex_monospaced(printable(table.signature))}}}" if table.signature else ""
    lines.append(rf"\caption{{{latex_text(printable(table.title))}.{signature}}}")
    lines.append(r"\end{table}")
    lines += [f"% {latex_comment(printable(note))}" for note in [*table.notes, *reasons(table)]]
    return "\n".join(lines) + "\n"


def _plain(table: Table, *, color: bool, width: int | None) -> str:
    lines = [*broken(printable(table.above), width), ""] if table.above else []
    lines += [*title_lines(table, color=color, width=width), *body_lines(table, width)]
    lines += signature_lines(table, color=color, width=width)
    notes = [printable(note) for note in [*table.notes, *reasons(table)]]
    return "\n".join([*lines, *text_layout.note_lines(notes, width)]) + "\n"


def title_lines(table: Table, *, color: bool, width: int | None) -> list[str]:
    return _styled("\x1b[1m", broken(printable(table.title), width), color=color)


def body_lines(table: Table, width: int | None) -> list[str]:
    """Titles and rows in plain text; beyond `width` in blocks of columns, on a narrow screen with cells one under
    another."""
    cells = text_cells(table, table.columns)
    if width is not None and width < text_layout.NARROW and text_layout.total_width(cells) > width:
        return list(text_layout.one_under_another(cells.titles, cells.rows, width))
    lines: list[str] = []
    for i, block in enumerate(text_layout.blocks(cells, width)):
        lines += [*([""] if i else []), *block]
    return lines


def signature_lines(table: Table, *, color: bool, width: int | None) -> list[str]:
    if not table.signature:
        return []
    return _styled("\x1b[2m", text_layout.signature_lines(printable(table.signature), width), color=color)


def _styled(style: str, lines: Sequence[str], *, color: bool) -> list[str]:
    return [f"{style}{line}\x1b[0m" for line in lines] if color and not os.environ.get("NO_COLOR") else list(lines)


def broken(text: str, width: int | None) -> list[str]:
    """Lines of a text, wrapped between words; one line without a `width`."""
    return textwrap.wrap(text, width) if width else [text]


def text_cells(table: Table, columns: Sequence[Column]) -> text_layout.Cells:
    """These columns of the table as text."""
    return text_layout.Cells(
        tuple(printable(c.title) for c in columns),
        tuple(tuple(cell_text(row, c) for c in columns) for row in table.rows),
        tuple(is_numeric(table, c) for c in columns),
        tuple(c.wrap for c in columns),
    )


def is_numeric(table: Table, column: Column) -> bool:
    """Whether all values are numbers, so that the column is aligned right. False without values."""
    values = [row.get(column.key) for row in table.rows]
    defined = [v for v in values if v is not None]
    # numpy's integers are numbers too, though none of Python's own.
    return bool(defined) and all(isinstance(v, Real | Estimate) for v in defined)


def cell_text(row: Mapping[str, Any], column: Column) -> str:
    """Text of a cell, on one line: numbers in the column's format, a dash if missing, "undefined" if undefined."""
    value = row.get(column.key)
    if isinstance(value, Estimate):
        return _estimate(value, column)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "—"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return _number(value, column)
    if isinstance(value, int):
        return str(value) if column.factor == 1 else _number(value, column)
    return printable(str(_as_text(value)))


def _as_text(value: Any) -> Any:
    # Lists and mappings become JSON.
    return orjson.dumps(value).decode() if isinstance(value, list | dict) else value


def _estimate(estimate: Estimate, column: Column) -> str:
    if estimate.value is None:
        return "undefined"
    if estimate.low is not None and estimate.high is not None:
        column = _fine_enough(estimate, column)
        text = _number(estimate.value, column)
        up, down = estimate.high - estimate.value, estimate.value - estimate.low
        if column.half_width and math.isclose(up, down, rel_tol=1e-6):
            return f"{text} ±{_number(up, column)}"
        return f"{text} [{_number(estimate.low, column)}, {_number(estimate.high, column)}]"
    return _number(estimate.value, column)


_MORE_DIGITS = 3


def _fine_enough(estimate: Estimate, column: Column) -> Column:
    # Up to 3 more decimals, so that the ends of an interval are printed as different numbers.
    finer = column
    for more in range(_MORE_DIGITS + 1):
        finer = replace(column, digits=column.digits + more)
        if len({_number(end, finer) for end in (estimate.low, estimate.high) if end is not None}) > 1:
            return finer
    return column if estimate.low == estimate.high else finer


def _number(value: float, column: Column) -> str:
    if column.money:
        return about(value) if column.rough else dollars(value)
    text = f"{value * column.factor:.{column.digits}f}"
    if float(text) == 0 and (column.p or (column.share and value > 0)):
        return f"<{10**-column.digits:.{column.digits}f}"
    return text.replace("-0." + "0" * column.digits, "0." + "0" * column.digits) if float(text) == 0 else text


_TAILS = {
    "two-sided": "two-sided",
    "greater": "one-sided, greater: how often chance gives as large a statistic",
    "less": "one-sided, less: how often chance gives as small a statistic",
    "two one-sided": "two one-sided tests, the larger p of both",
    "row": "the column tail says of each whether it is two-sided or one-sided",
}


def tails_of(table: Table) -> list[str]:
    """A sentence for each kind of tail (such as two-sided), with the titles of its columns."""
    titles_by_tail: dict[str, dict[str, None]] = {}
    for column in table.columns:
        if column.p and table.rows:
            titles_by_tail.setdefault(column.p, {})[column.title] = None
    return [f"{', '.join(titles)}: {_TAILS[tail]}" for tail, titles in titles_by_tail.items()]


def reasons(table: Table) -> list[str]:
    """`tails_of` and `whys` of the table."""
    return [*tails_of(table), *whys(table)]


def whys(table: Table) -> list[str]:
    """A sentence for each reason why cells are undefined, with the titles of the columns."""
    titles_by_reason: dict[str, dict[str, None]] = {}
    for row in table.rows:
        for column in table.columns:
            value = row.get(column.key)
            if isinstance(value, Estimate) and value.reason:
                titles_by_reason.setdefault(value.reason, {})[column.title] = None
    return [f"{', '.join(titles)}: {reason}" for reason, titles in titles_by_reason.items()]
