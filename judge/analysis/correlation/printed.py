"""Printed correlation table."""

from __future__ import annotations

from typing import Any

from judge.analysis.correlation import correlations
from judge.analysis.correlation.correlations import CONTROL_SAME, ONE_OUT, PEOPLE_SAME, CorrelationRow, Correlations
from judge.analysis.inputs.bars import CEILING, CONTROL, JUDGE
from judge.analysis.options.choices import LEVELS
from judge.base.printing.tables import Column, Table

_FURTHER = {ONE_OUT: "leave-one-out", PEOPLE_SAME: "people, same", CONTROL_SAME: "control, same", **correlations.TITLES}
_SAME_NOTE = "people, same; control, same: people, leave one out, and the control on the stories of the judge's own row"


def tables(result: Correlations) -> list[Table]:
    title = f"{result.statistic} with people, {result.over}"
    return [
        Table(
            title,
            _columns(result),
            [{**_printed(row), "people": name} for name, row in result.by_people],
            result.signature,
            notes(result),
            first=frozenset(i for i, (_, row) in enumerate(result.by_people) if row.averaged),
        )
    ]


def notes(result: Correlations) -> tuple[str, ...]:
    """Notes beneath the table: warnings about the numbers, and the meaning of additional columns."""
    keys = {column.key for column in _further_columns(result)}
    sentences = [*result.notes]
    sentences += [_SAME_NOTE] if keys & {PEOPLE_SAME, CONTROL_SAME} else []
    sentences += [correlations.NOTE] if correlations.LOWEST in keys else []
    return tuple(dict.fromkeys(sentences))


def _printed(row: CorrelationRow) -> dict[str, Any]:
    return {
        **row.subject.labels,
        "kind": row.kind,
        "stories": row.stories,
        "systems": row.systems,
        "value": row.estimate,
        "given": row.given,
        "n": row.estimate.n,
        "missing": row.subject.lost,
        **row.further,
    }


def _columns(result: Correlations) -> list[Column]:
    columns = [Column("dataset", "dataset")] if len(result.datasets) > 1 else []
    columns += [Column("criterion", "criterion"), Column("judge", "judge"), Column("eval_prompt", "eval prompt")]
    if any(row.subject.against not in (None, row.subject.criterion) for row in result.rows):
        columns.append(Column("against", "against people's"))
    if result.panels:
        columns.append(Column("people", "people"))
    columns.append(Column("value", f"{result.statistic} x100", digits=1, factor=100))
    if result.given:
        columns.append(Column("given", f"given {result.given}", digits=1, factor=100))
    columns += _further_columns(result)
    columns.append(Column("n", result.unit))
    if LEVELS[result.level].grouping != "overall":
        columns.append(Column("stories", "stories"))
    return [
        *columns,
        Column("repeats", "repeats", digits=1),
        Column("unrated", "unrated"),
        Column("missing", "repeats lost"),
    ]


def _further_columns(result: Correlations) -> list[Column]:
    rows = result.rows
    defined = {name for row in rows for name, number in row.further.items() if number.defined}
    # Ceiling and control on a judge's stories are shown only where rows are based on different stories.
    bars = {(row.subject.dataset, row.kind, row.subject.criterion): row.stories for row in rows}
    apart = any(
        row.stories < bars.get((row.subject.dataset, kind, row.subject.against), 0)
        for row in rows
        if row.kind == JUDGE and row.subject.against is not None
        for kind in (CEILING, CONTROL)
    )
    same = () if apart else (PEOPLE_SAME, CONTROL_SAME)
    return [
        Column(name, title, digits=1, factor=100)
        for name, title in _FURTHER.items()
        if name in defined and name not in same
    ]
