"""How far a judge's ratings follow people's: the correlation table. Never hides what was lost.

For every judge x Eval-Prompt x criterion one row, with the human ceiling above and the control judge's row beneath, all
with intervals from one set of resamples. A judge's row stands on the stories that it rated, and names what people and
control reach on these; beside people it is scored as one person is, against the means of the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from judge.analysis.correlation import lost_ratings, people_means
from judge.analysis.correlation.rows import CONTROL_SAME, ONE_OUT, PEOPLE_SAME, DatasetRows, Row
from judge.analysis.coverage import coverage, loss
from judge.analysis.inputs.bars import JUDGE, ControlPredictions, Predict, Remarks
from judge.analysis.inputs.criterion_matching import match
from judge.analysis.options.signature import signature
from judge.analysis.options.table_options import CorrelationOptions
from judge.printing.tables import Column, Table
from judge.rating_matrix import RatingMatrix, build
from judge.wording import Note

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
_FURTHER = {ONE_OUT: "leave-one-out", PEOPLE_SAME: "people, same", CONTROL_SAME: "control, same", **lost_ratings.TITLES}
_SAME_NOTE = "people, same; control, same: people, leave one out, and the control on the stories of the judge's own row"
_APART = 0.02
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
        reason, given, given_low, given_high, leave_one_out, people_same, control_same, lost_lowest, lost_highest,
        lost_middle`. `n` counts what the correlation is over (stories, systems or groups), `unrated` asked stories
        without a judge's rating, `missing` repeats by cause; `given` is the correlation with the third variable of
        `options.given` held fixed. `leave_one_out` scores the row against the means of the other people, as the
        ceiling's; `people_same` and `control_same` are ceiling and control on this row's stories; `lost_lowest,
        lost_highest, lost_middle` the correlation with lost stories tied there (`lost_ratings`), null where nothing was
        lost. Undefined values are null with a reason.
    """
    options = options or CorrelationOptions()
    rows, _ = _all_rows(table, build(table, drop_systems=options.drop_systems), options, predict)
    return pd.DataFrame([_flat(row) for row in rows], columns=[*_COLUMNS, *_MORE, *_FURTHER])


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
    found |= {name: one.value for name, one in row.further.items()}
    if given is not None:
        found |= {"given": given.value, "given_low": given.low, "given_high": given.high}
    return found


def tables(
    table: RatingsTable, options: CorrelationOptions | None = None, *, predict: Predict | None = None
) -> list[Table]:
    """The correlation table as printed, with its signature."""
    options = options or CorrelationOptions()
    matrices = build(table, drop_systems=options.drop_systems)
    rows, remarks = _all_rows(table, matrices, options, predict)
    printed = [
        {**row.labels, "kind": row.kind, "value": row.estimate, "given": row.given, "n": row.estimate.n}
        | {"missing": _causes(row.missing)}
        | dict(row.further)
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
    further = _further_columns(rows)
    columns += further
    columns.append(Column("n", _UNITS[options.level]))
    if options.level != "overall":
        columns.append(Column("stories", "stories"))
    columns += [Column("repeats", "repeats", digits=1), Column("unrated", "unrated"), Column("missing", "repeats lost")]
    facts = [note for fact in table.facts for note in fact.notes]
    line = signature(table, matrices, options, extra=list(remarks.made))
    keys = {column.key for column in further}
    extra = [_SAME_NOTE] if keys & {PEOPLE_SAME, CONTROL_SAME} else []
    extra += [lost_ratings.NOTE] if lost_ratings.LOWEST in keys else []
    notes = tuple(dict.fromkeys([*facts, *remarks.notes, *extra]))
    return [Table(f"{title} with people, {_LEVELS[options.level]}", columns, printed, line, notes)]


def _further_columns(rows: Sequence[Row]) -> list[Column]:
    """The further numbers that say something here: those on the same stories only where rows differ in theirs."""
    defined = {name for row in rows for name, one in row.further.items() if one.defined}
    bars = {(row.labels["dataset"], row.kind, row.criterion): row.labels["stories"] for row in rows}
    judged = [row for row in rows if row.kind == JUDGE and row.labels["against"] is not None]
    apart = any(
        row.labels["stories"] < bars.get((row.labels["dataset"], kind, row.labels["against"]), 0)
        for row in judged
        for kind in ("ceiling", "control")
    )
    same = () if apart else (PEOPLE_SAME, CONTROL_SAME)
    return [Column(n, title, digits=1, factor=100) for n, title in _FURTHER.items() if n in defined and n not in same]


def _shares_note(dataset: str, rows: Sequence[Row]) -> list[str]:
    """That judges rated different shares of the stories, where they lie further apart than `_APART`."""
    shares = [row.share for row in rows if row.kind == JUDGE and row.share is not None]
    if not shares or max(shares) - min(shares) <= _APART:
        return []
    ends = f"{100 * min(shares):.0f} to {100 * max(shares):.0f} %"
    note = (
        f"{dataset}: judges rated {ends} of the stories that people rated: their rows are not of the same stories and"
    )
    instead = "judge compare and judge margins take the stories that both have"
    return [Note(f"{note} do not show which is the closest", instead, joint="; ")]


def _all_rows(
    table: RatingsTable, matrices: Sequence[RatingMatrix], options: CorrelationOptions, predict: Predict | None
) -> tuple[list[Row], Remarks]:
    remarks, scales = Remarks(), coverage.scales_of(table)
    rows: list[Row] = []
    for matrix in matrices:
        found = match(matrix, options.against)
        remarks.notes.update(dict.fromkeys(found.notes))
        made = DatasetRows(matrix, options, predict, remarks, scales=scales).all(found)
        remarks.notes.update(dict.fromkeys(_shares_note(matrix.dataset, made)))
        rows += made
    remarks.notes.update(dict.fromkeys(loss.findings(matrices)))
    if options.level == "system":
        few = [m for m in matrices if len(m.systems) < 10]
        remarks.notes.update({f"{m.dataset}: {len(m.systems)} systems prove little at system level": None for m in few})
        remarks.notes.update(dict.fromkeys(note for matrix in matrices for note in people_means.notes(matrix)))
    return rows, remarks


def _causes(missing: Mapping[str, int]) -> str:
    return ", ".join(f"{status} {count}" for status, count in missing.items())
