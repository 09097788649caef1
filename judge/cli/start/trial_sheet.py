"""Results of a trial as tables: ratings by criterion and preferences by criterion, with the control's results beside
them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judge.base.printing.tables import Table
    from judge.base.records import Criterion, Judgment, Verdict
    from judge.lab.trial.sheet import Compared, Rated, Sheet

LENGTH = 48


def sheet_tables(sheet: Sheet) -> list[Table]:
    """Tables of ratings and of preferences, each only if the trial has any. Notes under the tables explain the rows."""
    from judge.version import __version__

    signature = f"judge:{sheet.judge} stories:{1 if sheet.other is None else 2} asked:{sheet.asked} judge {__version__}"
    sheet_parts = []
    if sheet.rated:
        sheet_parts.append(_ratings(sheet, signature))
    if sheet.compared:
        sheet_parts.append(_preferences(sheet, signature))
    return sheet_parts


def _ratings(sheet: Sheet, signature: str) -> Table:
    from judge.base.printing.tables import Column, Table

    columns = [Column("criterion", "criterion"), Column("scale", "scale"), Column("rating", "rating", text=True)]
    if sheet.control:
        columns.append(Column("control", "control", text=True))
    if len({row.eval_prompt for row in sheet.rated}) > 1:
        columns.insert(1, Column("eval_prompt", "eval prompt"))
    columns += [Column("status", "status"), Column("explanation", "explanation", wrap=LENGTH)]
    notes = ["control: readable surface features, no language model; a judge that says no more reads no story"]
    return Table(
        f"{sheet.story.id}: ratings by {sheet.judge}",
        columns,
        [_rating(row) for row in sheet.rated],
        signature,
        notes if sheet.control else (),
    )


def _rating(row: Rated) -> dict[str, Any]:
    judgment = row.judgment
    return {
        "criterion": row.criterion.name,
        "eval_prompt": row.eval_prompt,
        "scale": row.scale,
        "rating": _number(row.criterion, judgment),
        "control": _number(row.criterion, row.control),
        "status": _status(judgment, row.error),
        "explanation": None if judgment is None else judgment.explanation,
    }


def _preferences(sheet: Sheet, signature: str) -> Table:
    from judge.base.printing.tables import Column, Table
    from judge.lab.trial.sheet import PREFERRED

    columns = [
        Column("criterion", "criterion"),
        Column("first", "shown first", wrap=20),
        Column("second", "shown second", wrap=20),
        Column("preferred", "preferred", wrap=24),
    ]
    if sheet.control:
        columns.append(Column("control", "control", wrap=24))
    if len({row.eval_prompt for row in sheet.compared}) > 1:
        columns.insert(1, Column("eval_prompt", "eval prompt"))
    columns.append(Column("explanation", "explanation, shown first", wrap=LENGTH))
    other = "" if sheet.other is None else sheet.other.id
    note = (
        f"shown first, second: whom the judge preferred where {sheet.story.id} stood there; preferred: in both orders"
    )
    names = PREFERRED | {"own": sheet.story.id, "other": other}
    return Table(
        f"{sheet.story.id} against {other}: preferences of {sheet.judge}",
        columns,
        [_preference(row, names) for row in sheet.compared],
        signature,
        [note],
    )


def _preference(row: Compared, names: Mapping[str, str]) -> dict[str, Any]:
    from judge.lab.trial.sheet import in_order

    first, second = row.orders
    return {
        "criterion": row.criterion.name,
        "eval_prompt": row.eval_prompt,
        "first": names[in_order(first, own_first=True)] if _read(first) else _status(first, row.errors[0]),
        "second": names[in_order(second, own_first=False)] if _read(second) else _status(second, row.errors[1]),
        "preferred": names[row.preferred],
        "control": names[row.by_control],
        "explanation": None if first is None else first.explanation,
    }


def _read(verdict: Verdict | None) -> bool:
    return verdict is not None and verdict.preference is not None


def _number(criterion: Criterion, judgment: Judgment | None) -> str | None:
    return None if judgment is None or judgment.rating is None else criterion.scale.text_of(judgment.rating)


def _status(reading: Judgment | Verdict | None, error: str | None) -> str:
    text = "not_answered" if reading is None else "; ".join([reading.status, *reading.flags])
    return text if error is None else f"{text}: {error}"
