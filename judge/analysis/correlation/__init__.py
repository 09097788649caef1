"""How far a judge's ratings follow people's: the correlation table. Never hides what was lost.

For every judge x Eval-Prompt x criterion one row, with the human ceiling above and the control judge's row beneath, all
on the same stories and with intervals from one set of resamples, so that differences between rows are paired.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from judge.analysis.correlation.rows import ControlPredictions, DatasetRows, Predict, Remarks, Row
from judge.analysis.matching import match
from judge.analysis.options import CorrelationOptions
from judge.analysis.signature import signature
from judge.rating_matrix import RatingMatrix, build
from judge.tables import Column, Table

if TYPE_CHECKING:
    from judge.ratings_table import RatingsTable

__all__ = ["ControlPredictions", "Predict", "correlate", "tables"]

_TITLES = {"kendall": "Kendall's tau-b", "spearman": "Spearman's rho", "pearson": "Pearson's r"}
_LEVELS = {
    "overall": "over all stories",
    "system": "over system means",
    "by-item": "averaged over story-prompts",
    "by-system": "averaged over systems",
}
_UNITS = {"overall": "stories", "system": "systems", "by-item": "story-prompts", "by-system": "systems"}
_COLUMNS = ("dataset", "kind", "run", "judge", "eval_prompt", "criterion", "against", "value", "low", "high", "n")
_MORE = ("stories", "systems", "repeats", "unrated", "missing", "method", "reason", "given", "given_low", "given_high")


def correlate(
    table: RatingsTable, options: CorrelationOptions | None = None, *, predict: Predict | None = None
) -> pd.DataFrame:
    """Correlations of every judge cell with people, with the ceiling and the control's row.

    Parameters
    ----------
    table : RatingsTable
    options : CorrelationOptions
        Coefficient, level, systems to drop, interval; see there.
    predict : callable, optional
        Gives the control's out-of-fold ratings; None = no control row.

    Returns
    -------
    DataFrame
        `dataset, kind` (judge, ceiling, control, or mean: over criteria, where there are several), `run, judge,
        eval_prompt, criterion, against, value, low, high, n, stories, systems, repeats, unrated, missing, method,
        reason, given, given_low, given_high`. `n` counts what the correlation is over (stories, systems or groups),
        `unrated` asked stories without a judge's rating, `missing` repeats by cause; `given` is the correlation with
        the third variable of `options.given` held fixed. Undefined values are null with a reason.
    """
    options = options or CorrelationOptions()
    rows, _ = _all_rows(build(table, drop_systems=options.drop_systems), options, predict)
    return pd.DataFrame([_flat(row) for row in rows], columns=[*_COLUMNS, *_MORE])


def _flat(row: Row) -> dict[str, object]:
    estimate, given = row.estimate, row.given
    found = {
        **row.labels,
        "kind": row.kind,
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "n": estimate.n,
        "missing": _causes(row.missing),
        "method": estimate.method,
        "reason": estimate.reason,
    }
    if given is not None:
        found |= {"given": given.value, "given_low": given.low, "given_high": given.high}
    return found


def tables(
    table: RatingsTable, options: CorrelationOptions | None = None, *, predict: Predict | None = None
) -> list[Table]:
    """The correlation table as printed, with its signature."""
    options = options or CorrelationOptions()
    matrices = build(table, drop_systems=options.drop_systems)
    rows, remarks = _all_rows(matrices, options, predict)
    printed = [
        {**row.labels, "kind": row.kind, "value": row.estimate, "given": row.given, "n": row.estimate.n}
        | {"missing": _causes(row.missing)}
        for row in rows
    ]
    title = _TITLES[options.coefficient]
    columns = [Column("dataset", "dataset")] if len(matrices) > 1 else []
    columns += [Column("criterion", "criterion"), Column("judge", "judge"), Column("eval_prompt", "eval prompt")]
    if any(row["against"] not in (None, row["criterion"]) for row in printed):
        columns.append(Column("against", "against people's"))
    columns.append(Column("value", f"{title} x100", digits=1, factor=100))
    if options.given:
        columns.append(Column("given", f"given {options.given}", digits=1, factor=100))
    columns.append(Column("n", _UNITS[options.level]))
    if options.level != "overall":
        columns.append(Column("stories", "stories"))
    columns += [Column("repeats", "repeats", digits=1), Column("unrated", "unrated"), Column("missing", "repeats lost")]
    facts = [note for fact in table.facts for note in fact.notes]
    line = signature(table, matrices, options, extra=list(remarks.made))
    notes = tuple(dict.fromkeys([*facts, *remarks.notes]))
    return [Table(f"{title} with people, {_LEVELS[options.level]}", columns, printed, line, notes)]


def _all_rows(
    matrices: Sequence[RatingMatrix], options: CorrelationOptions, predict: Predict | None
) -> tuple[list[Row], Remarks]:
    remarks = Remarks()
    rows: list[Row] = []
    for matrix in matrices:
        found = match(matrix, options.against)
        remarks.notes.update(dict.fromkeys(found.notes))
        rows += DatasetRows(matrix, options, predict, remarks).all(found)
    if options.level == "system":
        few = [m for m in matrices if len(m.systems) < 10]
        remarks.notes.update({f"{m.dataset}: {len(m.systems)} systems prove little at system level": None for m in few})
    return rows, remarks


def _causes(missing: Mapping[str, int]) -> str:
    return ", ".join(f"{status} {count}" for status, count in missing.items())
