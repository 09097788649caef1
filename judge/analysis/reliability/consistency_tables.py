"""Printed tables of the consistency of judges over repeats, and of people over raters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from judge.analysis.frames import long_table
from judge.analysis.reliability.consistency import PEOPLE, REML, Consistency, ConsistentCell
from judge.analysis.reliability.pingouin_icc import PingouinFamily
from judge.base.printing.tables import Column, Table, cells_of, plain
from judge.base.wording import Advice, Note

# Forms in the printed table: one repeat and the mean of k, exchangeable, and the form that the HANNA study reports.
SHOWN = ("ICC(1,1)", "ICC(1,k)", "ICC(2,k)")

_READING = (
    Note(
        "ICC with F intervals, 95 %; (1,.) columns exchangeable, (2,.) absolute agreement",
        Advice("all six forms: {full}", full=True),
        joint="; ",
    ),
    "flip %: how often two repeats of one story differ; high consistency is not validity",
)


def tables(result: Consistency, *, full: bool = False) -> list[Table]:
    """One row for each judge (or people) and criterion; with `full`, for each form of the ICC, with F, degrees of
    freedom and p. The engine pingouin gives its own table for each judge and criterion instead.
    """
    if result.options.engine == "pingouin":
        return [_pingouin(cell, cell.pingouin, result.signature) for cell in result.cells if cell.pingouin]
    return [_every_form(result) if full else _wide(result)]


def _every_form(result: Consistency) -> Table:
    table = long_table("Consistency, every form", result.frame.drop(columns="dataset"), result.signature)
    columns = [replace(column, digits=3, p="row" if column.key == "p" else "") for column in table.columns]
    return replace(table, columns=columns, notes=result.notes)


def _wide(result: Consistency) -> Table:
    cells = [cell for cell in result.cells if cell.has_agreement]
    forms = [*SHOWN, *(form for form in REML if any(cell.estimate(form) for cell in cells))]
    columns = [
        *plain("judge", "eval_prompt", "criterion"),
        Column("n", "stories"),
        *plain("incomplete", "k"),
        *(Column(form, form) for form in forms),
        Column("exact", "all equal %", digits=1, factor=100),
        Column("flip", "flip %", digits=1, factor=100),
        Column("within_sd", "sd within"),
    ]
    people = ", and agreement of people" * any(cell.is_people for cell in cells)
    rows = [_row(cell) for cell in cells]
    return Table(f"Consistency over repeats{people}", columns, rows, result.signature, (*result.notes, *_READING))


def _row(cell: ConsistentCell) -> dict[str, Any]:
    family, agreement = cell.family, cell.agreement
    return (
        cells_of(cell, "judge", "eval_prompt", "criterion")
        | cells_of(family, "n", "incomplete", "k")
        | {row.form: row.estimate for row in family.rows}
        | cells_of(agreement, "exact", "flip", "within_sd")
    )


def _pingouin(cell: ConsistentCell, family: PingouinFamily, line: str) -> Table:
    whose = f"{PEOPLE}, {cell.criterion}" if cell.is_people else f"{cell.judge}, {cell.eval_prompt}, {cell.criterion}"
    columns = [Column(name, name, digits=3) for name in ("Type", "ICC", "F", "df1", "df2", "pval", "CI95")]
    rows = [
        {"Type": row.form, "ICC": row.icc, "F": row.f, "df1": row.df1, "df2": row.df2, "pval": row.p}
        | {"CI95": f"[{row.low:.2f}, {row.high:.2f}]"}
        for row in family.rows
    ]
    notes = (family.reason,) if family.reason else ()
    return Table(f"pingouin {family.version}: {whose}", columns, rows, line, notes)
